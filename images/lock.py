"""The lock file of a base and variant: every package by name, version, length and digest, and where it lies.

`asked` in its head is the digest of what the recipe asked for: a lock of another recipe is refused. `epoch` is the time
of the repositories that it was made of, in seconds; no file of an image is younger.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from .errors import ImageError
from .recipe import ImageSpec

FOLDER = Path(__file__).with_name("locks")
HEAD = re.compile(r"# (?P<key>asked|epoch) (?P<value>\S+)")


class Package(NamedTuple):
    """`path` is below the mirror of that name."""

    name: str
    version: str
    size_bytes: int
    sha256: str
    mirror: str
    path: str

    def __str__(self) -> str:
        return f"{self.name} {self.version} {self.size_bytes} {self.sha256} {self.mirror}:{self.path}"


class Lock(NamedTuple):
    file: Path
    asked: str
    epoch_seconds: int
    packages: tuple[Package, ...]


def place(spec: ImageSpec, folder: Path = FOLDER) -> Path:
    names = (spec.base_name, spec.variant_name, spec.driver_name)
    return folder / f"{'-'.join(name for name in names if name)}.lock"


def digest(spec: ImageSpec) -> str:
    """Of everything that decides which packages are taken."""
    content: dict[str, object] = {"base": spec.base.model_dump(exclude_none=True), "packages": spec.packages}
    if spec.driver:
        content["driver"] = [spec.driver.version, spec.driver.exact]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def written(lock: Lock) -> str:
    head = ["# Made by `landbridge image lock`.", f"# asked {lock.asked}", f"# epoch {lock.epoch_seconds}"]
    return "\n".join([*head, *map(str, sorted(lock.packages))]) + "\n"


def read(file: Path) -> Lock:
    """Raises ImageError, with the line, for what is no lock file."""
    try:
        lines = file.read_text().splitlines()
    except OSError as error:
        raise ImageError(f"{file}: {error.strerror}. `landbridge image lock` makes it") from None
    head = {found["key"]: found["value"] for line in lines if (found := HEAD.fullmatch(line))}
    packages = tuple(_package(file, n, line) for n, line in enumerate(lines, 1) if line and not line.startswith("#"))
    if not packages or "asked" not in head or not head.get("epoch", "").isdecimal():
        raise ImageError(f"{file}: this is no lock file. `landbridge image lock` makes it anew")
    return Lock(file, head["asked"], int(head["epoch"]), packages)


def _package(file: Path, number: int, line: str) -> Package:
    match line.split():
        case [name, version, size, sha256, where] if size.isdecimal() and len(sha256) == 64 and ":" in where:
            mirror, _, path = where.partition(":")
            return Package(name, version, int(size), sha256, mirror, path)
    raise ImageError(f"{file.name}:{number}: this is no package's line. `landbridge image lock` makes the file anew")


def current(spec: ImageSpec, folder: Path = FOLDER) -> Lock:
    """The lock of what is asked for. Raises ImageError where there is none, or one of another recipe."""
    found = read(place(spec, folder))
    if found.asked != digest(spec):
        raise ImageError(
            f"{found.file.name} was made of another recipe than recipe.yaml is now. Pin its packages anew: "
            f"`landbridge image lock {words(spec)}`"
        )
    return found


def words(spec: ImageSpec) -> str:
    """What a command says to mean this image."""
    driver = f" --driver {spec.driver_name}" if spec.driver_name else ""
    return f"--base {spec.base_name} --variant {spec.variant_name}{driver}"


def changes(old: Iterable[Package], new: Iterable[Package]) -> Iterator[tuple[str, str, str]]:
    """Name, version before and version now; empty where there is none."""
    before, now = ({one.name: one.version for one in packages} for packages in (old, new))
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            yield name, before.get(name, ""), now.get(name, "")
