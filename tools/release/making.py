"""`make release`: all files of a version in one folder, from a commit, with the digests and where they came from."""

import datetime
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from images.bill import written

from . import bills, packages, provenance, signing, source
from .errors import ReleaseError
from .programs import Program, lacking


class Tools(NamedTuple):
    """`python` builds, `checker` is the one of tools/audit.lock, `go` has built the programs."""

    uv: Path
    python: Path
    checker: Path
    go: str


def make(
    root: Path,
    to: Path,
    tools: Tools,
    programs: list[Program],
    today: datetime.date,
    *,
    repository: str | None = None,
    key: Path | None = None,
) -> list[Path]:
    """Raises ReleaseError, and then leaves nothing at `to`, which must not be there."""
    version = bills.version(root)
    source.check_changelog((root / "CHANGELOG.md").read_text(), version, today)
    of = source.current(root, version)
    if to.exists():
        raise ReleaseError(f"{to} is there already. A version is released once: remove it, or give another version")
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent, prefix=".release-") as temporary:
        making = Path(temporary) / "files"
        files = packages.build(tools.uv, tools.python, of, Path(temporary), making)
        made = bills.write(bills.made(root, programs, of.epoch_seconds), version, making)
        bills.check(tools.checker, made)
        files += made
        statement = provenance.statement(version, of.commit, repository, files, root, _versions(tools))
        files.append(making / f"landbridge-{version}.intoto.json")
        files[-1].write_text(written(statement))
        listed = making / signing.SUMS
        listed.write_text(signing.sums(files))
        files.append(listed)
        if key:
            files.append(signing.sign(listed, key))
        shutil.move(making, to)
    return sorted(to / file.name for file in files)


def check_programs(programs: list[Program], needed: set[str]) -> None:
    """A bill of programs that lacks some would look whole. Raises ReleaseError."""
    if absent := sorted(needed & set(lacking(programs))):
        raise ReleaseError(f"{', '.join(absent)}: not built here, so that the bill would lack them. Run `make setup`")


def _versions(tools: Tools) -> dict[str, str]:
    """Of what builds: another one may give other bytes."""

    def said(*command: str) -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    setuptools = "from importlib.metadata import version; print(version('setuptools'))"
    return {
        "go": said(tools.go, "env", "GOVERSION").removeprefix("go"),
        "machine": f"{platform.system().lower()}-{platform.machine()}",
        "python": said(str(tools.python), "-c", "import platform; print(platform.python_version())"),
        "setuptools": said(str(tools.python), "-c", setuptools),
        "uv": said(str(tools.uv), "--version").split()[1],
    }
