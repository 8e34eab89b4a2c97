"""Who deleted, evicted and cordoned what, from the audit log as API machines bring it to the same bucket."""

import json
import re
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from evidence import audit, pods
from evidence.observation import Json, Observation
from fleet import records

from .book import Book
from .store import Store

# What a recorder before this one may not have read: parts come a minute late, and say a minute.
BACK_SECONDS = 900.0
# The end of a part's name, behind its folder: components/control_plane/on_machine/audit_ship.py.
NAMED, NAME = re.compile(r"\d{4}-\d\d-\d\d/\d{6}"), "%Y-%m-%d/%H%M%S"
# All lines of interest have one of these, and few others have.
MARKS = (b'"verb":"delete', b'"subresource":"eviction"', b'"unschedulable":true')
# Of what ended while the API server could not be watched: once all API machines have brought what is of that time.
FILL_SECONDS, MOST_FILLED = 180.0, 500
# Kubelets delete the objects of pods that have ended, whoever wanted that.
NOBODY = "kubelet-finished"


class AuditLog:
    """One thread calls it, but for `fill`. `folders` are those of the API machines, with a slash behind."""

    def __init__(self, store: Store, book: Book, folders: Sequence[str], begun: float) -> None:
        self.store, self.book, self.folders = store, book, folders
        self.first = f"{datetime.fromtimestamp(begun - BACK_SECONDS, UTC):{NAME}}"
        self.read: dict[str, set[str]] = {folder: set() for folder in folders}
        self.lock = threading.Lock()
        self.unseen: list[tuple[float, float, Json]] = []

    def fill(self, pod: Json, since: float, now: float) -> None:
        """How it ended has to be found out: it was there at `since`, and is not `now`. Of too many the first ones."""
        with self.lock:
            if self.folders and len(self.unseen) < MOST_FILLED:
                self.unseen.append((since, now, pod))

    def step(self, now: float) -> None:
        """Raises StoreError; the next step goes on where this one stopped."""
        for folder in self.folders:
            for key in self._new(folder, now):
                for one in observations(self.store.get(key)):
                    self.book.add(one, urgent=one.about.startswith(("pod/", "jobset/")))
                self.read[folder].add(key)
        with self.lock:
            due = [one for one in self.unseen if now - one[1] >= FILL_SECONDS]
        if due:
            self._fill(due)
            with self.lock:
                self.unseen = [one for one in self.unseen if one not in due]

    def _fill(self, due: Sequence[tuple[float, float, Json]]) -> None:
        since, until = (min(one[0] for one in due), max(one[1] for one in due))
        first, last = (f"{datetime.fromtimestamp(at, UTC):{NAME}}" for at in (since - BACK_SECONDS, until))
        names = {str(pod["metadata"]["name"]) for *_, pod in due}
        found: list[Json] = []
        for folder in self.folders:
            for key in self._listed(folder, since - BACK_SECONDS, until):
                if first <= _named(folder, key) <= last:
                    found += audit.entries(records.unpacked(self.store.get(key)), names)
        found.sort(key=audit.at)
        for *_, pod in due:
            meta = pod["metadata"]
            was = audit.last_of(found, "pods", meta["namespace"], meta["name"])
            if was and was["metadata"].get("uid") == meta["uid"]:
                for one in pods.of_pod(was):
                    self.book.add(one)

    def _new(self, folder: str, now: float) -> list[str]:
        """Those of yesterday, too, as long as its last ones may come."""
        found = self._listed(folder, now - BACK_SECONDS, now)
        # What is read is forgotten with its day.
        self.read[folder] &= set(found)
        return [key for key in found if key not in self.read[folder] and _named(folder, key) >= self.first]

    def _listed(self, folder: str, since: float, until: float) -> list[str]:
        """Day by day: a year of them is half a million."""
        first, last = (datetime.fromtimestamp(at, UTC).date() for at in (since, until))
        days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
        return [key for day in days for key in self.store.listed(f"{folder}{day}/")]


def observations(data: bytes) -> Iterator[Observation]:
    """Of a part."""
    for line in records.unpacked(data):
        if any(mark in line for mark in MARKS):
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if audit.done(entry) and (one := audit.of_entry(entry)) and one.code != NOBODY:
                yield one


def _named(folder: str, key: str) -> str:
    """When its first entry was; empty for what is no part."""
    found = NAMED.match(key.removeprefix(folder))
    return found[0] if found else ""
