"""GPU hours by team, person, run and pool: what was lost of them, how much worked, and what they cost. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from evidence.observation import written
from fleet import prices
from fleet.model import Fleet
from landbridge.why.records import Gap

from .held import Held
from .scale_down import ScaleDown

NOBODY, NOT_RUN, GONE = "no team", "not launched as a run", "a node that is gone"
# Which table → whose a pod's hours are in it.
TABLES: dict[str, Callable[[Held], str]] = {
    "teams": lambda one: one.team or NOBODY,
    "people": lambda one: one.person or NOT_RUN,
    "runs": lambda one: f"{one.team}/{one.run}" if one.run else NOT_RUN,
    "pools": lambda one: one.pool or GONE,
}


class Row(NamedTuple):
    """`active` is the share of 1 that worked; None is what nothing measured, and what has no known price."""

    name: str
    gpu_hours: float
    lost_gpu_hours: float
    dollars: float | None
    active: float | None = None


class Account(NamedTuple):
    """Rows with the most hours first. `unpriced` are hours for which nobody has said a price. `scale_down` is None for
    who sees one team alone: machines are of all.
    """

    since: float
    until: float
    gpu_hours: float
    lost_gpu_hours: float
    dollars: float
    unpriced_gpu_hours: float
    tables: Mapping[str, Sequence[Row]]
    gaps: Sequence[Gap]
    scale_down: ScaleDown | None = None

    def as_json(self) -> dict[str, Any]:
        rest = ("gpu_hours", "lost_gpu_hours", "dollars", "unpriced_gpu_hours")
        return {
            "since": written(self.since),
            "until": written(self.until),
            **{name: round(getattr(self, name), 2) for name in rest},
            **{name: [row._asdict() for row in rows] for name, rows in self.tables.items()},
            "scale_down": self.scale_down and self.scale_down.as_json(),
            "gaps": [{"since": one.since, "until": one.until, "why": one.why} for one in self.gaps],
        }


def account(
    held: Sequence[Held],
    since: float,
    until: float,
    cost: Mapping[str, float],
    active: Mapping[str, float],
    gaps: Sequence[Gap] = (),
) -> Account:
    """`cost` is of a GPU for an hour, by pool; `active` the share that worked, by team."""
    known = [(one, cost.get(one.pool)) for one in held]
    return Account(
        since,
        until,
        sum(one.hours for one in held),
        sum(one.hours for one in held if one.lost),
        sum(one.hours * price for one, price in known if price is not None),
        sum(one.hours for one, price in known if price is None),
        {name: _rows(held, whose, cost, active if name == "teams" else {}) for name, whose in TABLES.items()},
        gaps,
    )


def gpu_prices(fleet: Fleet) -> dict[str, float]:
    """US dollars for a GPU's hour, by pools whose price is known. What a site's hosts cost nobody has said."""
    of_machines = prices.machines(fleet)
    return {name: price / gpus for name, price in of_machines.items() if (gpus := fleet.pools[name].gpus)}


def _rows(
    held: Iterable[Held], whose: Callable[[Held], str], cost: Mapping[str, float], active: Mapping[str, float]
) -> list[Row]:
    by: dict[str, list[Held]] = defaultdict(list)
    for one in held:
        by[whose(one)].append(one)
    made = []
    for name, mine in by.items():
        paid = [one.hours * cost[one.pool] for one in mine if one.pool in cost]
        lost = sum(one.hours for one in mine if one.lost)
        dollars = round(sum(paid), 2) if paid else None
        made.append(Row(name, round(sum(one.hours for one in mine), 2), round(lost, 2), dollars, active.get(name)))
    return sorted(made, key=lambda row: (-row.gpu_hours, row.name))
