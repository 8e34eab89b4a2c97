"""Who deleted, evicted and cordoned what, from the audit log as API machines bring it to the same bucket."""

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from evidence import audit
from evidence.observation import Observation

from .book import Book
from .store import Store

# What a recorder before this one may not have read: parts come a minute late, and say a minute.
BACK_SECONDS = 900.0
# The end of a part's name, behind its folder: components/control_plane/on_machine/audit_ship.py.
NAMED = re.compile(r"(\d{4}-\d\d-\d\d)/(\d{6})")
# All lines of interest have one of these, and few others have.
MARKS = (b'"verb":"delete', b'"subresource":"eviction"', b'"unschedulable":true')
# Kubelets delete the objects of pods that have ended, whoever wanted that.
NOBODY = "kubelet-finished"


class AuditLog:
    """One thread calls it. `folders` are those of the API machines, with a slash behind."""

    def __init__(self, store: Store, book: Book, folders: Sequence[str], begun: float) -> None:
        self.store, self.book, self.folders = store, book, folders
        first = datetime.fromtimestamp(begun - BACK_SECONDS, UTC)
        self.from_ = dict.fromkeys(folders, f"{first:%Y-%m-%d/%H%M%S}")
        self.read: dict[str, set[str]] = {folder: set() for folder in folders}

    def step(self, now: float) -> None:
        """Raises StoreError; the next step goes on where this one stopped."""
        for folder in self.folders:
            for key in self._new(folder, now):
                for one in observations(self.store.get(key)):
                    self.book.add(one)
                self.read[folder].add(key)

    def _new(self, folder: str, now: float) -> list[str]:
        """Those of yesterday, too: the last of a day comes in the next."""
        today = datetime.fromtimestamp(now, UTC).date()
        found = [key for n in (1, 0) for key in self.store.listed(f"{folder}{today - timedelta(days=n)}/")]
        # What is read is forgotten with its day.
        self.read[folder] &= set(found)
        return [
            key
            for key in found
            if key not in self.read[folder]
            and (named := NAMED.match(key.removeprefix(folder)))
            and f"{named[1]}/{named[2]}" >= self.from_[folder]
        ]


def observations(data: bytes) -> Iterator[Observation]:
    """Of a part. What can't be read is no reason to read nothing after it."""
    try:
        lines = gzip.decompress(data).splitlines()
    except (OSError, EOFError, zlib.error):
        return
    for line in lines:
        if any(mark in line for mark in MARKS):
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if audit.done(entry) and (one := audit.of_entry(entry)) and one.code != NOBODY:
                yield one
