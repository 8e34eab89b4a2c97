"""What the recorder saw of a cluster, as it lies in the fleet bucket: also when the cluster is gone."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from evidence.observation import Observation, moment, read_line
from evidence.record import GAP, RECORD, WATCHED
from fleet.records import unpacked
from landbridge.clouds.cloud import Bucket, CloudError

# As many as boto3 keeps lines open.
THREADS = 10
SOON_DAYS = 2
# Replicas write once a minute, or every ten where nothing happens: later than that is a gap.
LATE = timedelta(minutes=15)
FOREVER, NOTHING = float("inf"), "the recorder has written nothing"
# Seconds of the epoch.
Span = tuple[float, float]


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
        found = self._latest(f'"{kind}/{name}"', lambda about: about == f"{kind}/{name}")
        return max(found, key=lambda one: (_created(one), one.at), default=None)

    def spaces(self, kind: str, name: str) -> set[str]:
        """Namespaces that had an object of that name, on the last day when one did."""
        found = self._latest(f'/{name}"', lambda about: about.startswith(f"{kind}/") and about.endswith(f"/{name}"))
        return {one.about.split("/")[1] for one in found}

    def _latest(self, mark: str, fits: Callable[[str], bool]) -> list[Observation]:
        """Records of the last day that has some."""
        for number, day in enumerate(self.keys):
            found = [one for one in self._marked([day], mark.encode()) if one.code == RECORD and fits(one.about)]
            if found:
                return found
            if number >= SOON_DAYS:
                self.forget(day)
        return []

    def of(self, names: Iterable[str], since: float = 0.0, until: float = FOREVER) -> list[Observation]:
        """All lines of those days that name one of these."""
        return [*self._marked(self._days(since, until), *(name.encode() for name in {*names} - {""}))]

    def all(self, since: float = 0.0) -> Iterator[Observation]:
        return self.on(self._days(since, FOREVER))

    def on(self, days: Sequence[date]) -> Iterator[Observation]:
        return _parsed(self.lines(days))

    def forget(self, day: date) -> None:
        """Its lines are read once more if somebody asks."""
        self._lines.pop(day, None)

    def _marked(self, days: Sequence[date], *marks: bytes) -> Iterator[Observation]:
        """Most lines are passed over unread."""
        return _parsed(line for line in self.lines(days) if any(mark in line for mark in marks))

    def about(self, kind: str, days: Sequence[date]) -> Iterator[Observation]:
        """All of those days that is about things of a kind."""
        found = self._marked(days, f'"{kind}/'.encode())
        return (one for one in found if one.about.startswith(f"{kind}/"))

    def lines(self, days: Sequence[date]) -> list[bytes]:
        for day in [one for one in days if one not in self._lines]:
            if day not in [*self.keys][:SOON_DAYS]:
                self.say(f"Looking through the records of {day:%-d %B}")
            self._lines[day] = self._read(day)
        return [line for day in days for line in self._lines[day]]

    def _read(self, day: date) -> list[bytes]:
        with ThreadPoolExecutor(THREADS) as pool:
            found = list(pool.map(self._part, self.keys[day]))
            if None in found:
                # Parts are becoming a file just now.
                self.keys[day] = [one.key for one in self.bucket.listed(f"{self.below}{day}")]
                found = list(pool.map(self.bucket.read, self.keys[day]))
        # Both replicas have written each.
        return list(dict.fromkeys(line for data in found if data for line in unpacked(data)))

    def _part(self, key: str) -> bytes | None:
        """S3 tells those who may list only a part of it that they may not read what is not there."""
        try:
            return self.bucket.read(key)
        except CloudError:
            if key in {one.key for one in self.bucket.listed(key)}:
                raise
            return None

    def gaps(self, since: float, until: float) -> list[Gap]:
        """Within that time, when no replica knew all; what they have yet to write is none."""
        spans, told = defaultdict[str, list[Span]](list), defaultdict[str, list[tuple[Span, str]]](list)
        for one in self._marked(self._days(since, until), *(f'"{code}"'.encode() for code in (WATCHED, GAP))):
            if one.code in (WATCHED, GAP):
                span = moment(one.facts["since"]), moment(one.facts["until"])
                if one.code == GAP:
                    told[one.about].append((span, one.text))
                else:
                    spans[one.about].append(span)
        known = [span for name, mine in spans.items() for span in less(mine, [gap for gap, _ in told[name]])]
        reasons = [one for mine in told.values() for one in mine]
        missing = less([(since, min(until, (self.now - LATE).timestamp()))], known)
        return [Gap(_time(first), _time(last), _why((first, last), reasons)) for first, last in missing]

    @property
    def until(self) -> datetime | None:
        """Up to then something is told; None where nothing ever was."""
        for day in self.keys:
            if ends := [moment(one.facts["until"]) for one in self._marked([day], f'"{WATCHED}"'.encode())]:
                return _time(max(ends))
        return None

    def _days(self, since: float, until: float) -> list[date]:
        """The first of a day's parts may tell of the end of the day before."""
        last = _time(until).date() + timedelta(days=1) if until < FOREVER else date.max
        return [day for day in self.keys if _time(since).date() <= day <= last]


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


def less(spans: Iterable[Span], without: Iterable[Span]) -> Iterator[Span]:
    """What is left of them."""
    holes = sorted(without)
    for begun, until in spans:
        at = begun
        for first, last in holes:
            if at < first < until:
                yield at, first
            at = max(at, last) if first < until else at
        if at < until:
            yield at, until


def _why(gap: Span, told: Sequence[tuple[Span, str]]) -> str:
    """What a replica says of that time, where one does."""
    return next((why for (first, last), why in told if first < gap[1] and last > gap[0]), NOTHING)


def _time(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
