"""`make sbom`: writes the bills of materials of a checkout, and has them checked by the standard's own schema."""

import hashlib
import subprocess
import tomllib
from pathlib import Path

from images import lock, recipe

from . import bill, python_lock
from .bill import Json, Subject
from .errors import ReleaseError
from .programs import Program

# Name in a file's name → what is in it.
KINDS = ("python", "programs", "services")


def version(root: Path) -> str:
    return str(tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"])


def file_name(version: str, kind: str) -> str:
    return f"landbridge-{version}.{kind}.cdx.json"


def made(root: Path, programs: list[Program], epoch_seconds: int) -> dict[str, Json]:
    """Kind → document. Raises ReleaseError."""
    now = version(root)

    def subject(kind: str, name: str) -> Subject:
        return Subject(kind, name, now, epoch_seconds)

    packages, inside = (python_lock.read(root / name) for name in ("requirements.lock", "services/requirements.lock"))
    sums = {one.name: hashlib.sha256(one.file.read_bytes()).hexdigest() for one in programs}
    base, debian = _debian(root)
    return {
        "python": bill.of_packages(subject("application", "landbridge"), packages),
        "programs": bill.of_programs(subject("application", "landbridge-programs"), programs, sums),
        "services": bill.of_container(subject("container", "landbridge-services"), base, debian, inside),
    }


def _debian(root: Path) -> tuple[str, list[lock.Package]]:
    """The distribution of our services' container, and its packages, as images/services.py takes them."""
    loaded = recipe.load(root / "images/recipe.yaml")
    spec = loaded.recipe.services
    if spec is None:
        raise ReleaseError("images/recipe.yaml has no services. Take it from git again")
    of = recipe.select(loaded, spec.base, spec.variant)
    found = [one for one in lock.current(of, root / "images/locks").packages if one.name in spec.packages]
    return spec.base.partition("-")[0], found


def write(documents: dict[str, Json], now: str, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for kind, document in sorted(documents.items()):
        file = folder / file_name(now, kind)
        file.write_text(bill.written(document))
        files.append(file)
    return files


def check(python: Path, files: list[Path]) -> None:
    """By CycloneDX's own schema. Raises ReleaseError."""
    script = Path(__file__).with_name("valid_bills.py")
    done = subprocess.run([python, script, *files], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ReleaseError(f"a bill of materials is not CycloneDX: {(done.stdout or done.stderr).strip()[-800:]}")
