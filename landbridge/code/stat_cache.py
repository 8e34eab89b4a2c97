"""Digests of files that have not changed since they were last read, so that a second launch reads almost none."""

import os
from pathlib import Path
from typing import NamedTuple

from fleet.team_code import digest

from . import private_files

# Another number when what is looked for in files is another: then all are read again.
VERSION = 1
# A file that changes right after it was read may keep its times: file systems' clocks are coarse, FAT's by 2 s.
# git has the same trouble: https://git-scm.com/docs/racy-git
RACY_SECONDS = 2.0


class Stamp(NamedTuple):
    """Changes whenever the file does. The time of the last write can be set back, that of the last change can't."""

    size_bytes: int
    written_ns: int
    changed_ns: int
    inode: int


class Seen(NamedTuple):
    """`secret` says what kind of secret the file's head is; empty if none."""

    sha256: str
    secret: str


def stamp(status: os.stat_result) -> Stamp:
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class StatCache:
    """Of one folder."""

    def __init__(self, cache: Path, root: Path) -> None:
        self.file = cache / f"stat-{digest(os.fsencode(root))[:16]}.json"
        found = private_files.read(self.file)
        self.entries: dict[str, object] = found.get("entries", {}) if found.get("version") == VERSION else {}
        self.kept: dict[str, list[object]] = {}

    def seen(self, path: str, now: Stamp) -> Seen | None:
        """What a file held, if it has not changed since."""
        entry = self.entries.get(path)
        if not isinstance(entry, list) or len(entry) != 6 or tuple(entry[:4]) != now:
            return None
        self.kept[path] = entry
        return Seen(str(entry[4]), str(entry[5]))

    def keep(self, path: str, then: Stamp, seen: Seen, read_ns: int) -> None:
        """`then` and `read_ns` are of the moment before it was read."""
        if max(then.written_ns, then.changed_ns) + RACY_SECONDS * 1e9 <= read_ns:
            self.kept[path] = [*then, *seen]

    def save(self) -> None:
        """Only of files that are still there."""
        if self.kept != self.entries:
            private_files.write(self.file, {"version": VERSION, "entries": self.kept})
