"""What is in a tree, a line of JSON for each thing, in an order that two trees share: so two of them are compared while
they are read, however large they are.

A snapshot's index says of which file of the share each of its files is a copy (`inode`, `changed_ns`: whoever alters a
file can't set the time of its last change back). A backup's index says where in the bucket each file lies (`at`).
"""

import fcntl
import gzip
import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
FILE, FOLDER, LINK = "file", "folder", "link"


def order(path: str) -> tuple[str, ...]:
    """A folder stands before what is in it."""
    return tuple(path.split("/"))


def walk(root: Path) -> Iterator[Entry]:
    """Everything below a folder and the folder itself as "": what vanishes meanwhile is left out, as are devices."""
    yield _entry(root, "")
    yield from _below(root, "")


def _below(folder: Path, path: str) -> Iterator[Entry]:
    try:
        names = sorted(found.name for found in folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        try:
            entry = _entry(folder / name, f"{path}/{name}".lstrip("/"))
        except FileNotFoundError:
            continue
        if entry["kind"] is None:
            continue
        yield entry
        if entry["kind"] == FOLDER:
            yield from _below(folder / name, entry["path"])


def _entry(place: Path, path: str) -> Entry:
    told = place.lstat()
    kinds = {stat.S_IFREG: FILE, stat.S_IFDIR: FOLDER, stat.S_IFLNK: LINK}
    kind = kinds.get(stat.S_IFMT(told.st_mode))
    entry = {
        "path": path,
        "kind": kind,
        "mode": stat.S_IMODE(told.st_mode),
        "uid": told.st_uid,
        "gid": told.st_gid,
        "modified_ns": told.st_mtime_ns,
        "changed_ns": told.st_ctime_ns,
        "inode": told.st_ino,
    }
    if kind == FILE:
        entry["bytes"] = told.st_size
    if kind == LINK:
        entry["target"] = str(place.readlink())
    return entry


def beside(news: Iterator[Entry], olds: Iterator[Entry]) -> Iterator[tuple[Entry, Entry | None]]:
    """Each of the new ones with the old one of its path."""
    old = next(olds, None)
    for new in news:
        while old is not None and order(old["path"]) < order(new["path"]):
            old = next(olds, None)
        yield new, old if old is not None and old["path"] == new["path"] else None


def same(new: Entry, old: Entry | None) -> bool:
    """Whether a file is untouched: neither its content nor its owner or mode."""
    return old is not None and all(new.get(key) == old.get(key) for key in ("kind", "inode", "changed_ns", "bytes"))


def read(path: Path) -> Iterator[Entry]:
    """Of an index; nothing where there is none."""
    if path.exists():
        with gzip.open(path, "rt") as lines:
            for line in lines:
                yield json.loads(line)


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Nobody else does this work meanwhile, by hand or by timer. Raises SystemExit where somebody does."""
    with lock.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"ERROR: this work is under way already ({lock} is held)") from None
        yield


class Writer:
    """An index that counts once it is whole: `with Writer(path) as index: index.add(entry)`."""

    def __init__(self, path: Path) -> None:
        self.path, self.draft = path, path.with_name(path.name + ".new")

    def __enter__(self) -> "Writer":
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.file = gzip.open(self.draft, "wt", 6)
        return self

    def add(self, entry: Entry) -> None:
        self.file.write(json.dumps(entry, sort_keys=True) + "\n")

    def __exit__(self, kind: object, *_: object) -> None:
        self.file.close()
        if kind is None:
            self.draft.replace(self.path)
        else:
            self.draft.unlink()
