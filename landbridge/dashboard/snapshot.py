"""What the pages show, read from answers of the cluster's API. Pure.

What is not known is empty; of what was not seen at all, `not_seen` says so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from components.pools import labels
from evidence.nodes import of_node
from evidence.observation import Json
from fleet import maintenance
from fleet.team_storage import team_of
from landbridge.experiments.manifest import PART, PERSON, RANK, RUN
from landbridge.monitoring.alarms import Alarm
from landbridge.pool.usage import gpus as gpus_of
from landbridge.queue.runs import Queues
from landbridge.site.nodes import condition, ready

from .planned import Planned

# Taint → why nothing new comes there.
CLOSED = {
    maintenance.TAINT: "maintenance is announced",
    labels.ROLLING.key: "it is to be replaced",
    labels.GPU_STARTING.key: "its GPUs are not advertised yet",
    "ToBeDeletedByClusterAutoscaler": "the autoscaler takes it away",
    "node.kubernetes.io/unschedulable": "it is cordoned",
}
# Taint → what is broken.
BROKEN = {labels.GPU_FAILED.key: "a GPU has failed", labels.GPU_BURN_IN.key: "it failed its burn-in"}
SILENT = {"Unknown": "it does not answer", "False": "it is not ready"}


class Condition(NamedTuple):
    kind: str
    status: str
    since: datetime | None
    text: str


class Node(NamedTuple):
    """`gpus` are those that it has, `usable` those that work may have. `closed` and `broken` say why, or are empty.

    `ails` is all that its own object shows.
    """

    name: str
    place: str
    pool: str
    kind: str
    model: str
    gpus: int
    usable: int
    ready: bool
    closed: str
    broken: str
    since: datetime
    conditions: Sequence[Condition]
    taints: Sequence[str]
    ails: Sequence[str]

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "conditions": [one._asdict() for one in self.conditions]}


class Pod(NamedTuple):
    """One with GPUs. `node` is empty while it waits for one, `run` for what nobody launched as a run."""

    space: str
    name: str
    team: str
    person: str
    run: str
    part: str
    rank: str
    node: str
    gpus: int
    phase: str
    since: datetime


class Link(NamedTuple):
    """`up` is the part of the connection's tunnels that are up, from 0 to 1; `place` is what it leads to."""

    name: str
    connection: str
    place: str
    up: float


class Snapshot(NamedTuple):
    """`whole`: pods of all teams were seen; `measured`: Prometheus answered.

    `activity` is of each GPU, from 0 to 1, by node and its number there; `prices` are US dollars for a machine's hour
    by pools, where somebody has said one, and `priced` says how old these are.
    """

    fleet: str
    cluster: str
    planned: Planned
    whose: str
    taken: datetime
    nodes: Sequence[Node]
    pods: Sequence[Pod]
    whole: bool
    queues: Queues | None
    measured: bool
    alarms: Sequence[Alarm]
    runbooks: Mapping[str, str]
    activity: Mapping[str, Mapping[str, float]]
    prices: Mapping[str, float]
    links: Sequence[Link]
    not_seen: Sequence[str]
    priced: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            **self._asdict(),
            "planned": self.planned.as_json(),
            "nodes": [one.as_json() for one in self.nodes],
            "pods": [one._asdict() for one in self.pods],
            "queues": self.queues.as_json() if self.queues else None,
            "alarms": [one.as_json() for one in self.alarms],
            "links": [one._asdict() for one in self.links],
        }


def nodes(found: Iterable[Json]) -> list[Node]:
    """By place and pool; in a pool by name, numbers as numbers."""
    return sorted(map(_node, found), key=lambda one: (one.place, one.pool, _natural(one.name)))


def pods(found: Iterable[Json]) -> list[Pod]:
    """Those with GPUs that have not ended."""
    return [
        _pod(one, number)
        for one in found
        if (number := gpus_of(one)) and (one.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
    ]


def activity(series: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Of `landbridge:gpu_active`."""
    found: dict[str, dict[str, float]] = {}
    for one in series:
        node, gpu = str(one["metric"].get("node", "")), str(one["metric"].get("gpu", ""))
        found.setdefault(node, {})[gpu] = min(1.0, max(0.0, float(one["value"][1])))
    return found


def links(series: Iterable[Mapping[str, Any]]) -> list[Link]:
    """Of `landbridge_tunnels_up`, the worst first."""
    told = ((one["metric"], float(one["value"][1])) for one in series)
    found = (Link(str(of["link"]), str(of["connection"]), str(of["place"]), up) for of, up in told)
    return sorted(found, key=lambda one: (one.up, one.name, one.connection))


def dollars(seen: Snapshot, nodes: Sequence[Node]) -> float | None:
    """What machines of regions cost an hour as they stand, at most; None where no price of any is known."""
    known = [seen.prices[one.pool] for one in nodes if one.pool in seen.prices]
    return sum(known) if known else None


def _node(node: Json) -> Node:
    meta, spec, status = node["metadata"], node.get("spec") or {}, node.get("status") or {}
    marks, taints = meta.get("labels") or {}, spec.get("taints") or []
    has, may = (int((status.get(what) or {}).get(labels.GPU_RESOURCE, 0)) for what in ("capacity", "allocatable"))
    keys = [str(one["key"]) for one in taints]
    closed = [*(CLOSED[key] for key in keys if key in CLOSED)]
    if spec.get("unschedulable") and not closed:
        closed = [CLOSED["node.kubernetes.io/unschedulable"]]
    silent = [] if ready(node) else [SILENT.get(condition(node, "Ready"), SILENT["False"])]
    return Node(
        name=str(meta["name"]),
        place=marks.get(labels.PLACE, ""),
        pool=marks.get(labels.POOL, ""),
        kind=marks.get(labels.KIND, ""),
        model=marks.get(labels.GPU, ""),
        gpus=max(has, may),
        usable=may,
        ready=ready(node),
        closed="; ".join(dict.fromkeys(closed)),
        broken="; ".join([*silent, *dict.fromkeys(BROKEN[key] for key in keys if key in BROKEN)]),
        since=datetime.fromisoformat(meta["creationTimestamp"]),
        conditions=[*_conditions(status)],
        taints=[_written(one) for one in taints],
        ails=[f"{one.code}: {one.text}" if one.text else one.code for one in of_node({**node, "spec": spec})],
    )


def _conditions(status: Mapping[str, Any]) -> Iterator[Condition]:
    for one in status.get("conditions") or []:
        at = one.get("lastTransitionTime")
        since = datetime.fromisoformat(at) if at else None
        yield Condition(str(one["type"]), str(one["status"]), since, str(one.get("message") or one.get("reason") or ""))


def _written(taint: Mapping[str, Any]) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint.get('effect', '')}"


def _pod(pod: Json, gpus: int) -> Pod:
    meta, status = pod["metadata"], pod.get("status") or {}
    marks, space = meta.get("labels") or {}, str(meta["namespace"])
    return Pod(
        space=space,
        name=str(meta["name"]),
        team=team_of(space),
        person=marks.get(PERSON, ""),
        run=marks.get(RUN, ""),
        part=marks.get(PART, ""),
        rank=str((meta.get("annotations") or {}).get(RANK, "")),
        node=str(pod["spec"].get("nodeName") or ""),
        gpus=gpus,
        phase=str(status.get("phase") or ""),
        since=datetime.fromisoformat(status.get("startTime") or meta["creationTimestamp"]),
    )


def _natural(name: str) -> list[tuple[int, str]]:
    """host-2 comes before host-10."""
    parts = "".join(letter if letter.isdigit() else f" {letter} " for letter in name).split()
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
