"""Which content an add-on's image is: `containers.lock` has a digest for each name and tag.

`make lock` asks the registries and writes it. A name that no registry could be asked for stands there as `unknown`, so
that everybody sees which ones are held by their tag alone. A line is NAME:TAG, sha256:DIGEST or `unknown`, the day of
the answer, and who said so: `registry`, or `documents`, for digests that two or more public manifests agree on.
"""

import datetime
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

LOCK = Path(__file__).with_name("containers.lock")
UNKNOWN = "unknown"
REGISTRY, DOCUMENTS, NOBODY = "registry", "documents", "nobody"
NAME = re.compile(r"[\w.-]+(:\d+)?(/[\w.-]+)+:[\w][\w.-]*")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
HEAD = "# Written by `make lock`: image, digest, day, and who said so. `unknown` is what no registry was asked for."


class LockError(Exception):
    """What is wrong with the lock, where, and what to do."""


class Pin(NamedTuple):
    """`name` has the tag; `digest` is None where nobody told it."""

    name: str
    digest: str | None
    day: datetime.date
    source: str

    @property
    def reference(self) -> str:
        """What a pod is given: both, so that people see the version and runtimes take the content."""
        return f"{self.name}@{self.digest}" if self.digest else self.name

    def __str__(self) -> str:
        return f"{self.name} {self.digest or UNKNOWN} {self.day} {self.source}"


def read(file: Path = LOCK) -> dict[str, Pin]:
    """Name with tag → pin. Raises LockError, with the line."""
    try:
        lines = file.read_text().splitlines()
    except OSError as error:
        raise LockError(f"{file.name}: {error.strerror}. `make lock` writes it") from None
    found: dict[str, Pin] = {}
    for number, line in enumerate(lines, 1):
        if line and not line.startswith("#"):
            pin = _pin(f"{file.name}:{number}", line)
            if pin.name in found:
                raise LockError(f"{file.name}:{number}: {pin.name} stands here twice. Leave one line of it")
            found[pin.name] = pin
    return found


def _pin(where: str, line: str) -> Pin:
    match line.split():
        case [name, digest, day, source] if NAME.fullmatch(name) and (
            DIGEST.fullmatch(digest) or (digest, source) == (UNKNOWN, NOBODY)
        ):
            try:
                return Pin(name, None if digest == UNKNOWN else digest, datetime.date.fromisoformat(day), source)
            except ValueError:
                pass
    raise LockError(f"{where}: this is no image with its digest, day and source. `make lock` writes the file anew")


def written(pins: Iterable[Pin]) -> str:
    return "\n".join([HEAD, *sorted(map(str, pins))]) + "\n"


@cache
def locked() -> Mapping[str, Pin]:
    """Landbridge's own lock, read once. Raises LockError."""
    return read()


def reference(name: str) -> str:
    """NAME:TAG@sha256:DIGEST where the lock has one, else the name as it is."""
    pin = locked().get(name)
    return pin.reference if pin else name
