"""What the recorder saw of a cluster, as it lies in the fleet bucket: also when the cluster is gone."""

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from evidence.observation import Observation, moment, read_line
from evidence.record import RECORD
from landbridge.clouds.cloud import Bucket, CloudError

# As many as boto3 keeps lines open.
THREADS = 10
SOON_DAYS = 2
# Replicas write once a minute, or every ten where nothing happens: later than that is a gap.
LATE = timedelta(minutes=15)


class Gap(NamedTuple):
    """Of this time nobody knows anything, or not all."""

    since: datetime
    until: datetime
    why: str


class Records:
    """`below` is the folder. Of nothing before `since`. All raise CloudError, and what `opened` raises."""

    def __init__(self, opened: Callable[[], Bucket], below: str, since: datetime, now: datetime) -> None:
        self.opened, self.below, self.since, self.now = opened, below, since, now
        self._lines: dict[date, list[bytes]] = {}
        # What is not of the last days takes a while.
        self.say: Callable[[str], None] = lambda _: None

    @cached_property
    def bucket(self) -> Bucket:
        return self.opened()

    @cached_property
    def keys(self) -> dict[date, list[str]]:
        """By days, of which the last is first."""
        found: dict[date, list[str]] = {}
        first = self.since.astimezone(UTC).date()
        for one in self.bucket.listed(self.below):
            if (day := _day(one.key.removeprefix(self.below))) and day >= first:
                found.setdefault(day, []).append(one.key)
        return dict(sorted(found.items(), reverse=True))

    def newest(self, kind: str, name: str) -> Observation | None:
        """The record of an object that had the name last: NAMESPACE/NAME, or NAME."""
        mark, code = f'"{kind}/{name}"'.encode(), f'"{RECORD}"'.encode()
        for day in self.keys:
            found = _parsed(line for line in self.lines([day]) if mark in line and code in line)
            if mine := [one for one in found if one.code == RECORD and one.about == f"{kind}/{name}"]:
                return max(mine, key=lambda one: (_created(one), one.at))
        return None

    def of(self, names: Iterable[str], since: float = 0.0) -> list[Observation]:
        """All lines that name one of these, from that day on."""
        return [*self._marked(self._days(since), *(name.encode() for name in {*names} - {""}))]

    def all(self, since: float = 0.0) -> Iterator[Observation]:
        return _parsed(self.lines(self._days(since)))

    def on(self, days: Sequence[date]) -> Iterator[Observation]:
        return _parsed(self.lines(days))

    def forget(self, day: date) -> None:
        """Its lines are read once more if somebody asks."""
        self._lines.pop(day, None)

    def _marked(self, days: Sequence[date], *marks: bytes) -> Iterator[Observation]:
        """Most lines are passed over unread."""
        return _parsed(line for line in self.lines(days) if any(mark in line for mark in marks))

    def lines(self, days: Sequence[date]) -> list[bytes]:
        wanted = [day for day in days if day not in self._lines]
        keys = [key for day in wanted for key in self.keys[day]]
        with ThreadPoolExecutor(THREADS) as pool:
            parts = dict(zip(keys, pool.map(self._part, keys), strict=True))
            for day in wanted:
                if len(self._lines) >= SOON_DAYS:
                    self.say(f"Looking through the records of {day:%-d %B}")
                if None in (parts[key] for key in self.keys[day]):
                    # Its parts are becoming its file just now.
                    again = [one.key for one in self.bucket.listed(f"{self.below}{day}")]
                    self.keys[day], parts = (
                        again,
                        {**parts, **dict(zip(again, pool.map(self.bucket.read, again), strict=True))},
                    )
                self._lines[day] = [line for key in self.keys[day] for line in _unpacked(parts[key])]
        return [line for day in days for line in self._lines[day]]

    def _part(self, key: str) -> bytes | None:
        """S3 tells those who may list only a part of it that they may not read what is not there."""
        try:
            return self.bucket.read(key)
        except CloudError:
            if key in {one.key for one in self.bucket.listed(key)}:
                raise
            return None

    def gaps(self, since: float, until: float) -> list[Gap]:
        """Within that time; what the recorder has yet to write is none."""
        spans, told = [], []
        for one in self._marked(self._days(since), b'"watched"', b'"gap"'):
            if one.code == "watched":
                spans.append((moment(one.facts["since"]), moment(one.facts["until"])))
            elif one.code == "gap":
                told.append((moment(one.facts["since"]), moment(one.facts["until"]), one.text))
        late = min(until, (self.now - LATE).timestamp())
        missing = [(*span, "the recorder has written nothing") for span in _uncovered(spans, since, late)]
        both = [one for one in told if one[0] < until and one[1] > since]
        return [Gap(_time(first), _time(last), why) for first, last, why in sorted([*missing, *both])]

    @property
    def until(self) -> datetime | None:
        """Up to then something is told; None where nothing ever was."""
        for day in self.keys:
            if ends := [moment(one.facts["until"]) for one in self._marked([day], b'"watched"')]:
                return _time(max(ends))
        return None

    def _days(self, since: float) -> list[date]:
        first = _time(since).date()
        return [day for day in self.keys if day >= first]


def _unpacked(data: bytes | None) -> list[bytes]:
    try:
        return gzip.decompress(data).splitlines() if data else []
    except (OSError, EOFError, zlib.error):
        return []


def _created(one: Observation) -> float:
    return moment(one.facts["object"]["metadata"].get("creationTimestamp"))


def _day(name: str) -> date | None:
    try:
        return date.fromisoformat(name[:10])
    except ValueError:
        return None


def _parsed(lines: Iterable[bytes]) -> Iterator[Observation]:
    for line in lines:
        try:
            yield read_line(line)
        except ValueError:  # of a newer version
            continue


def _uncovered(spans: Iterable[tuple[float, float]], since: float, until: float) -> Iterator[tuple[float, float]]:
    at = since
    for first, last in sorted(spans):
        if at < first < until:
            yield at, first
        at = max(at, last)
    if at < until:
        yield at, until


def _time(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
