"""What pools saved by giving machines back: against their most machines, held all the time. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from components.pools import labels
from evidence.observation import Json, Observation, moment
from evidence.record import GONE, RECORD
from fleet import prices
from fleet.model import Fleet
from landbridge.why.records import Gap, Span, less

NODE = "node"


class Machine(NamedTuple):
    """From its node's coming to its going, in seconds of the epoch."""

    uid: str
    pool: str
    begun: float
    until: float


class Saved(NamedTuple):
    """Of one pool: `most` machines at a time, those hours that it held, and those that it did not. None: no price."""

    name: str
    most: int
    machine_hours: float
    saved_machine_hours: float
    saved_gpu_hours: float
    saved_dollars: float | None


class ScaleDown(NamedTuple):
    """Rows with the most dollars first. `hours` are those of the asked time of which there are records."""

    hours: float
    pools: Sequence[Saved]

    @property
    def machine_hours(self) -> float:
        return sum(one.saved_machine_hours for one in self.pools)

    @property
    def gpu_hours(self) -> float:
        return sum(one.saved_gpu_hours for one in self.pools)

    @property
    def dollars(self) -> float:
        """Of pools with a price."""
        return sum(one.saved_dollars or 0.0 for one in self.pools)

    def as_json(self) -> dict[str, Any]:
        return {
            "hours": round(self.hours, 2),
            "saved_machine_hours": round(self.machine_hours, 2),
            "saved_gpu_hours": round(self.gpu_hours, 2),
            "saved_dollars": round(self.dollars, 2),
            "pools": [one._asdict() for one in self.pools],
        }


class Gone:
    """Machines that are no more, by what the recorder kept of their nodes. Days may come one after the other."""

    def __init__(self) -> None:
        self.nodes: dict[str, Json] = {}
        self.ends: dict[str, float] = {}

    def hear(self, seen: Iterable[Observation]) -> None:
        for one in seen:
            if one.code == RECORD:
                self.nodes[one.uid] = one.facts["object"]
            elif one.code == GONE:
                # Both replicas tell it, each when it saw it.
                self.ends[one.uid] = min(one.at, self.ends.get(one.uid, one.at))

    def machines(self) -> Iterator[Machine]:
        for uid, end in self.ends.items():
            if uid in self.nodes:
                yield _machine(self.nodes[uid], end)


def of_nodes(nodes: Iterable[Json], now: float) -> Iterator[Machine]:
    """Of those that are there."""
    return (_machine(node, now) for node in nodes)


def scale_down(
    machines: Iterable[Machine], fleet: Fleet, since: float, until: float, gaps: Sequence[Gap] = ()
) -> ScaleDown:
    """Of pools of the fleet file in clouds. What nobody watched counts on neither side."""
    known = [*less([(since, until)], [(gap.since.timestamp(), gap.until.timestamp()) for gap in gaps])]
    seconds = sum(last - first for first, last in known)
    held = defaultdict[str, list[Span]](list)
    for one in {machine.uid: machine for machine in machines}.values():
        if one.pool in fleet.pools and fleet.pools[one.pool].region:
            held[one.pool] += _within((one.begun, one.until), known)
    rows = [_saved(fleet, pool, spans, seconds) for pool, spans in held.items() if spans]
    return ScaleDown(
        seconds / 3600, sorted(rows, key=lambda row: (-(row.saved_dollars or 0), -row.saved_machine_hours, row.name))
    )


def _saved(fleet: Fleet, pool: str, held: Sequence[Span], seconds: float) -> Saved:
    price, gpus = prices.machine(fleet, pool), fleet.pools[pool].gpus
    hours, most = sum(last - first for first, last in held) / 3600, _most(held)
    saved = most * seconds / 3600 - hours
    dollars = None if price is None else round(saved * price, 2)
    return Saved(pool, most, round(hours, 2), round(saved, 2), round(saved * gpus, 2), dollars)


def _most(held: Iterable[Span]) -> int:
    """At a time; who goes as another comes is not beside it."""
    changes = sorted(change for first, last in held for change in ((first, 1), (last, -1)))
    most = now = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


def _within(span: Span, known: Iterable[Span]) -> Iterator[Span]:
    for first, last in known:
        begun, until = max(span[0], first), min(span[1], last)
        if begun < until:
            yield begun, until


def _machine(node: Json, until: float) -> Machine:
    meta: Mapping[str, Any] = node["metadata"]
    pool = str((meta.get("labels") or {}).get(labels.POOL, ""))
    return Machine(str(meta["uid"]), pool, moment(meta.get("creationTimestamp")), until)
