"""Makes one file of an hour's parts, and of a day's files: a month is read by some dozens then, not by thousands."""

import gzip
import io
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from fleet import records

from .errors import StoreError
from .store import Store

# Parts of the last minutes, and of replicas whose clock or bucket was late. What comes later is in the day's file.
AFTER_HOUR, AFTER_DAY = timedelta(minutes=5), timedelta(minutes=30)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
# A recorder that was away for a long week-end.
BACK_DAYS = 4


class Merging:
    """One thread calls it. Of two replicas the first one does it: the other sees that the file is there."""

    def __init__(self, store: Store, folders: Sequence[str]) -> None:
        self.store, self.folders = store, folders
        self.days_until: date | None = None
        self.hours_until = ""

    def step(self, now: float) -> None:
        """Raises StoreError; what was not done is done by the next step. Once an hour there is something to do."""
        at = datetime.fromtimestamp(now, UTC)
        last = (at - AFTER_DAY).date() - DAY
        if self.days_until != last:
            for folder in self.folders:
                for n in reversed(range(BACK_DAYS)):
                    self.make_day(folder, last - n * DAY)
            self.days_until = last
        over = at - AFTER_HOUR - HOUR
        hour = records.hour_key("", over)
        if self.hours_until != hour:
            for folder in self.folders:
                for day in {last + DAY, over.date()}:
                    self.make_hours(folder, day, records.hour_key(folder, over))
            self.hours_until = hour

    def make_day(self, folder: str, day: date) -> None:
        """Raises StoreError. Parts that come later stay, and are read beside the file."""
        if keys := self.store.listed(records.parts_prefix(folder, day)):
            self._make(records.day_key(folder, day), keys)

    def make_hours(self, folder: str, day: date, last: str) -> None:
        """Of hours that have no file yet, up to `last`, which is a file's key. Raises StoreError."""
        listed = self.store.listed(records.parts_prefix(folder, day))
        parts = defaultdict[str, list[str]](list)
        for key in listed:
            parts[records.hour_of(key)].append(key)
        for made, keys in parts.items():
            if made <= last and made not in listed:
                self._make(made, keys)

    def _make(self, made: str, keys: Sequence[str]) -> None:
        try:
            data = self._merged(keys)
        except StoreError:
            if made in self.store.listed(made):  # the other one was quicker, and takes the parts away
                return
            raise
        if self.store.put_new(made, data):
            for key in keys:
                self.store.delete(key)

    def _merged(self, keys: Sequence[str]) -> bytes:
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
