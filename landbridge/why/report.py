"""What a time's ends cost: by cause, team, pool and board. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from evidence.causes import causes
from evidence.judge import UNKNOWN
from evidence.observation import written

from .deaths import Death, failed, of_records
from .records import Gap, Records

NOBODY = "no team"
# Causes that are a board's; a program's own Xid is not.
BOARDS = ("gpu-xid", "gpu-off-bus", "gpu-ecc", "gpu-nvlink")


class Row(NamedTuple):
    """GPU hours are those from the start to the end of what ended: all that may be lost, before checkpoints."""

    name: str
    deaths: int
    gpu_hours: float


class Report(NamedTuple):
    """Rows with the most GPU hours first. `well` are those that ended as they should."""

    since: float
    until: float
    deaths: int
    well: int
    gpu_hours: float
    causes: Sequence[Row]
    teams: Sequence[Row]
    pools: Sequence[Row]
    boards: Sequence[Row]
    gaps: Sequence[Gap]

    @property
    def named(self) -> float:
        """The share of ends whose cause is known, of 1; 1 where nothing ended."""
        unknown = sum(row.deaths for row in self.causes if row.name == UNKNOWN)
        return 1 - unknown / self.deaths if self.deaths else 1.0

    def as_json(self) -> dict[str, Any]:
        tables = {name: [row._asdict() for row in getattr(self, name)] for name in TABLES}
        return {
            "since": written(self.since),
            "until": written(self.until),
            "deaths": self.deaths,
            "ended_well": self.well,
            "gpu_hours": round(self.gpu_hours, 2),
            "named_share": round(self.named, 4),
            **tables,
            "gaps": [{"since": one.since, "until": one.until, "why": one.why} for one in self.gaps],
        }


TABLES = ("causes", "teams", "pools", "boards")


def report(records: Records, namespace: str) -> Report:
    """Of all that the records have. Raises CloudError."""
    since, until = records.since.timestamp(), records.now.timestamp()
    found = [one for one in ended(records) if namespace in ("", one.pod["metadata"]["namespace"])]
    return of(found, since, until, records.gaps(since, until))


def ended(records: Records, beside: Callable[[date], None] = lambda _: None) -> list[Death]:
    """All pods that did, well or not, each once. `beside` is told of each day while its lines are at hand, the oldest
    first. Raises CloudError.
    """
    found: dict[tuple[str, str], Death] = {}
    for one in _by_days(records, beside):
        if one.at >= records.since.timestamp():
            # What went on over midnight is known better on the second day.
            found[one.title, str(one.pod["metadata"]["uid"])] = one
    return list(found.values())


def of(found: Sequence[Death], since: float, until: float, gaps: Sequence[Gap]) -> Report:
    bad = failed(found)
    return Report(
        since,
        until,
        len(bad),
        len(found) - len(bad),
        sum(one.gpu_hours for one in bad),
        rows(bad, lambda one: one.verdict.code),
        rows(bad, lambda one: one.team or NOBODY),
        rows(bad, lambda one: one.pool),
        rows(bad, board),
        gaps,
    )


def rows(found: Iterable[Death], name: Callable[[Death], str]) -> list[Row]:
    """Without those that have none."""
    deaths: dict[str, list[Death]] = defaultdict(list)
    for one in found:
        deaths[name(one)].append(one)
    made = [Row(one, len(many), round(sum(each.gpu_hours for each in many), 2)) for one, many in deaths.items() if one]
    return sorted(made, key=lambda row: (-row.gpu_hours, -row.deaths, row.name))


def board(death: Death) -> str:
    """Node and address of the GPU that failed, where that was the cause; empty elsewhere."""
    cause = next((one for one in causes() if one.code == death.verdict.code and one.code in BOARDS), None)
    shown = cause.shown_by if cause else ()
    found = [one for one in death.verdict.evidence if one.code in shown and one.facts.get("pci")]
    return next((f"{one.about.partition('/')[2]} {one.facts['pci']}" for one in found), "")


def _by_days(records: Records, beside: Callable[[date], None]) -> Iterator[Death]:
    """Two days at a time, the oldest first: a month of a large cluster is more than a laptop's memory."""
    days = sorted(records.keys)
    for number, day in enumerate(days):
        records.say(f"Looking through the records of {day:%-d %B}, {number + 1} of {len(days)} days")
        begun = datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
        around = [one for one in days if _yesterday(day) <= one <= day]
        yield from of_records(records.on(around), begun)
        beside(day)
        records.forget(_yesterday(day))


def _yesterday(day: date) -> date:
    return day - timedelta(days=1)
