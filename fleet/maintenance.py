"""Work on machines that is announced: what stands of it in the cluster, as commands write it and the service reads it.

A `Maintenance` is one object of the cluster, whoever announces it. Its `spec` is what is planned and `status` how far
that is, of each node. docs/decisions/0064-maintenance.md says why.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, get_args

GROUP, VERSION, KIND, PLURAL = "landbridge.dev", "v1alpha1", "Maintenance", "maintenances"
API = f"{GROUP}/{VERSION}"
PATH = f"/apis/{API}/{PLURAL}"
SPACE, ACCOUNT = "kube-system", "maintenance"
MOST_SIGNS = 500
# On nodes and on pods there: what is planned, as JSON; and on nodes that were cordoned for it.
ANNOTATION, CORDONED = f"{GROUP}/maintenance", f"{GROUP}/maintenance-cordoned"
# On nodes that a roll is to replace: why, and until when work may stay (landbridge/pool/rolling_taint.py).
ROLLING_WHY, ROLLING_UNTIL = f"{GROUP}/rolling-why", f"{GROUP}/rolling-until"
# What a machine's own cloud says of it, as its node wrote it: a list, as components/pools/on_machine/node_notices.py.
ANNOUNCED = f"{GROUP}/announced"
CONDITION = "Maintenance"
# New work finds no room on a node with it, and the autoscaler takes no machine that it would buy to have it.
TAINT = "status-taint.cluster-autoscaler.kubernetes.io/maintenance"
# The taint's value is the longest of these that is left before the start, in seconds; shorter work may tolerate it.
LEFT = {"12h": 43200, "8h": 28800, "4h": 14400, "2h": 7200, "1h": 3600, "30m": 1800, "15m": 900}
NONE_LEFT = "0m"

Target = Literal["node", "pool", "site", "zone", "region", "link"]
Phase = Literal["told", "closed", "draining", "drained", "checking", "done"]
# What a target of that kind is called on its nodes. The nodes of a link are those of the place behind it.
LABELS = {
    "pool": f"{GROUP}/pool",
    "site": f"{GROUP}/place",
    "region": f"{GROUP}/place",
    "zone": "topology.kubernetes.io/zone",
    "link": f"{GROUP}/place",
}
TARGETS: tuple[Target, ...] = get_args(Target)
PHASES: tuple[Phase, ...] = get_args(Phase)
# In which a machine is away, or about to be.
AWAY = ("draining", "drained", "checking")


class Source(NamedTuple):
    """Who announces. `ours`: the time is the fleet's to choose, so that windows, shares and breakers hold it.

    `comes_back`: its machine is worked on and serves again; others are gone afterwards. Without `drains` it may
    not come to it: work that is there stays.
    """

    who: str
    ours: bool = False
    comes_back: bool = False
    drains: bool = True


SOURCES = {
    "operator": Source("an operator", ours=True, comes_back=True),
    # It drains by itself, and ends the machine.
    "pool-roll": Source("a roll of the pool", drains=False),
    # Work that is there may go on, and knows best whether it does.
    "host-finding": Source("the host itself, which is not fit for work", comes_back=True, drains=False),
    "ec2-event": Source("EC2", comes_back=True),
    "ec2-retirement": Source("EC2, which ends the machine"),
    "ec2-spot": Source("EC2, which takes the spot machine back"),
    "ec2-rebalance": Source("EC2, which may take the spot machine back", drains=False),
    "azure-freeze": Source("Azure, which stops the machine for seconds", comes_back=True, drains=False),
    "azure-event": Source("Azure", comes_back=True),
    "azure-end": Source("Azure, which ends the machine"),
}


class Plan(NamedTuple):
    """Times are seconds of the epoch. `deadline` is when pods that can't be evicted are deleted, 0 for never.

    `over` says that the work is done, `cancelled` that it is not to be.
    """

    name: str
    uid: str
    version: str
    source: str
    target: Target
    target_name: str
    why: str
    by: str
    event: str
    start: float
    end: float
    deadline: float
    notice_seconds: float
    closed_seconds: float
    over: bool
    cancelled: bool
    nodes: Mapping[str, "NodeState"]

    @property
    def ours(self) -> bool:
        return SOURCES[self.source].ours


class NodeState(NamedTuple):
    """How far it is on one node. `told` is when those there were told, `why` what it waits for in people's words."""

    phase: Phase
    told: float
    since: float
    why: str = ""
    work: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> "NodeState":
        return cls(
            told["phase"],
            seconds(told["told"]),
            seconds(told["since"]),
            told.get("why", ""),
            tuple(told.get("work", ())),
            tuple(told.get("teams", ())),
        )

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"phase": self.phase, "told": stamp(self.told), "since": stamp(self.since)}
        more = {"why": self.why[:MOST_SIGNS], "work": list(self.work), "teams": list(self.teams)}
        return found | {name: value for name, value in more.items() if value}


def read(thing: Mapping[str, Any]) -> Plan:
    """Raises KeyError and ValueError for one that the definition would have refused."""
    meta, spec = thing["metadata"], thing["spec"]
    return Plan(
        meta["name"],
        meta["uid"],
        meta["resourceVersion"],
        spec["source"],
        spec["target"]["kind"],
        spec["target"]["name"],
        spec["why"],
        spec.get("by", ""),
        spec.get("event", ""),
        seconds(spec["start"]),
        seconds(spec["end"]),
        seconds(spec["deadline"]) if "deadline" in spec else 0.0,
        float(spec["noticeSeconds"]),
        float(spec["closedSeconds"]),
        bool(spec.get("over")),
        bool(spec.get("cancelled")),
        {name: NodeState.read(one) for name, one in (thing.get("status") or {}).get("nodes", {}).items()},
    )


def left(seconds_left: float) -> str:
    """The taint's value."""
    return next((name for name, long in LEFT.items() if long <= seconds_left), NONE_LEFT)


def tolerated(work_seconds: float) -> list[str]:
    """Values of the taint under which work of so many seconds ends before the start."""
    return [name for name, long in LEFT.items() if long >= work_seconds]


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def stamp(at: float) -> str:
    """Whole seconds, as the API server has times."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
