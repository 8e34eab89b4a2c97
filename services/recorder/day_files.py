"""Makes one file of a day's parts once the day is over: a month is read by thirty files then, not by thousands."""

import gzip
import io
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from fleet import records

from .store import Store

# Parts of the last minutes, and of replicas whose clock or bucket was late.
AFTER = timedelta(minutes=30)
# A recorder that was away for a long week-end.
BACK_DAYS = 4


class DayFiles:
    """One thread calls it. Of two replicas the first one does it: the other sees that the file is there."""

    def __init__(self, store: Store, folders: Sequence[str]) -> None:
        self.store, self.folders = store, folders
        self.done: date | None = None

    def step(self, now: float) -> None:
        """Raises StoreError; what was not done is done by the next step. Once a day there is something to do."""
        last = (datetime.fromtimestamp(now, UTC) - AFTER).date() - timedelta(days=1)
        if self.done == last:
            return
        for folder in self.folders:
            for n in reversed(range(BACK_DAYS)):
                self.make(folder, last - timedelta(days=n))
        self.done = last

    def make(self, folder: str, day: date) -> None:
        """Raises StoreError. Parts that come later stay, and are read beside the file."""
        keys = self.store.listed(records.parts_prefix(folder, day))
        if not keys or not self.store.put_new(records.day_key(folder, day), self._merged(keys)):
            return
        for key in keys:
            self.store.delete(key)

    def _merged(self, keys: list[str]) -> bytes:
        """Each line once: both replicas have seen it."""
        known: set[int] = set()
        made = io.BytesIO()
        with gzip.GzipFile(fileobj=made, mode="wb", mtime=0) as file:
            for key in keys:
                for line in records.unpacked(self.store.get(key)):
                    if (what := hash(line)) not in known:
                        known.add(what)
                        file.write(line + b"\n")
        return made.getvalue()
