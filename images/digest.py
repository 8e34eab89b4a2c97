"""What is in a root file system, as text that two bakes can be compared by; and what differs between two of them."""

import hashlib
import os
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from .baked import sha256

LISTING = "files.txt"
KINDS = {
    stat.S_IFDIR: "d",
    stat.S_IFLNK: "l",
    stat.S_IFREG: "f",
    stat.S_IFCHR: "c",
    stat.S_IFBLK: "b",
    stat.S_IFIFO: "p",
}


class Entry(NamedTuple):
    """`content` is a file's SHA-256, a link's target, a device's numbers, or nothing."""

    path: str
    kind: str
    mode: str
    owner: str
    attributes: str
    content: str

    def __str__(self) -> str:
        return "\t".join(self)


def listing(root: Path) -> list[Entry]:
    """Every path below `root` with all that it is but times, which a bake sets; sorted."""
    paths = sorted(_walk(root))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda path: _entry(root, path), paths))


def _walk(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            yield os.path.relpath(Path(folder) / name, root)


def _entry(root: Path, path: str) -> Entry:
    file = root / path
    status = file.lstat()
    kind = KINDS.get(stat.S_IFMT(status.st_mode), "?")
    match kind:
        case "f":
            content = sha256(file)
        case "l":
            content = str(file.readlink())
        case "c" | "b":
            content = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
        case _:
            content = ""
    # Rights of single programs (capabilities) are attributes of their files.
    attributes = ",".join(
        f"{name}={os.getxattr(file, name, follow_symlinks=False).hex()}"
        for name in sorted(os.listxattr(file, follow_symlinks=False))
    )
    mode = f"{stat.S_IMODE(status.st_mode):o}"
    return Entry(path.replace("\n", "\\n"), kind, mode, f"{status.st_uid}:{status.st_gid}", attributes, content)


def written(entries: list[Entry]) -> str:
    return "".join(f"{entry}\n" for entry in entries)


def read(text: str) -> list[Entry]:
    """What `written` wrote."""
    return [Entry(*line.split("\t")) for line in text.splitlines()]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Difference(NamedTuple):
    """`what` is only in the first, only in the second, or what of it is another."""

    path: str
    what: str


def differences(first: list[Entry], second: list[Entry]) -> Iterator[Difference]:
    before, now = ({entry.path: entry for entry in entries} for entries in (first, second))
    for path in sorted(before.keys() | now.keys()):
        old, new = before.get(path), now.get(path)
        if old is None or new is None:
            yield Difference(path, "only in the second" if old is None else "only in the first")
        elif old != new:
            other = [field for field in Entry._fields if getattr(old, field) != getattr(new, field)]
            yield Difference(path, ", ".join(other))
