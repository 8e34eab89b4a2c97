"""What a lock of Python's packages says: names, versions, digests, for which systems, and who wanted each."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HEAD = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)\s*(?:;\s*(?P<marker>.*?))?\s*\\?$")
HASH = re.compile(r"\s+--hash=sha256:([0-9a-f]{64})")
VIA = re.compile(r"\s+#\s+(?:via\s*)?(?P<name>\S.*)?$")


class Package(NamedTuple):
    """`wanted_by` are names of packages, or of files, of which one may be our own."""

    name: str
    version: str
    marker: str
    sha256: tuple[str, ...]
    wanted_by: tuple[str, ...]


def read(lock: Path) -> list[Package]:
    """By name."""
    blocks = re.split(r"^(?=[A-Za-z0-9])", lock.read_text(), flags=re.MULTILINE)
    return sorted(_packages(blocks))


def _packages(blocks: list[str]) -> Iterator[Package]:
    for block in blocks:
        first, *rest = block.splitlines() or [""]
        if head := HEAD.match(first):
            digests = tuple(sorted(found[1] for line in rest if (found := HASH.match(line))))
            told = [found["name"] for line in rest if (found := VIA.match(line)) and found["name"]]
            marker = (head["marker"] or "").strip()
            yield Package(head["name"], head["version"], marker, digests, tuple(sorted(told)))
