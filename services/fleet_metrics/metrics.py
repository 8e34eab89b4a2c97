"""What the service tells, as Prometheus reads it. Times are seconds of the epoch."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from prometheus_client import Gauge

Labels = tuple[str, ...]
SNAPSHOTS, RESTORES = ["ring", "where", "region"], ["ring", "region"]

read_seconds = Gauge(
    "landbridge_fleet_metrics_read_seconds", "When a source last answered, or when this began", ["source", "region"]
)
backup_newest_seconds = Gauge("landbridge_backup_newest_seconds", "When a ring's newest snapshot was taken", SNAPSHOTS)
backup_due_seconds = Gauge("landbridge_backup_due_seconds", "How old that may be when all is well", SNAPSHOTS)
restore_tested_seconds = Gauge("landbridge_restore_tested_seconds", "When a drill last restored a ring", RESTORES)
restore_due_seconds = Gauge("landbridge_restore_due_seconds", "How long ago that may be", RESTORES)
drift_resources = Gauge(
    "landbridge_drift_resources",
    "How many resources of a stack differed from what was built",
    ["stack"],
)
drift_looked_seconds = Gauge("landbridge_drift_looked_seconds", "When somebody last looked at that", ["stack"])
tunnels_up = Gauge(
    "landbridge_tunnels_up", "Which part of a connection's tunnels is up", ["link", "connection", "place", "region"]
)
bgp_up = Gauge(
    "landbridge_bgp_up",
    "Of a gateway's instances, which part speaks BGP with a peer",
    ["link", "connection", "peer", "place", "region"],
)
quota_vcpus = Gauge(
    "landbridge_quota_vcpus", "A cloud's quota of an account, and what of it is used", ["quota", "region", "what"]
)
quota_planned_vcpus = Gauge(
    "landbridge_quota_planned_vcpus", "What of it pools use that are as large as they may grow", ["quota", "region"]
)
image_created_seconds = Gauge(
    "landbridge_image_created_seconds", "When the image was made that machines of a pool start from", ["pool", "region"]
)
image_due_seconds = Gauge("landbridge_image_due_seconds", "How old the fleet takes it", ["pool", "region"])
share_bytes = Gauge(
    "landbridge_share_bytes", "What of shares is used, and the most where there is one", ["share", "region", "what"]
)
nodes_most = Gauge("landbridge_nodes_most", "How many nodes the address plan has room for", ["zone"])


class Room(NamedTuple):
    """Of a share or of a file system, in bytes; `most` is None where there is none."""

    used: float
    most: float | None


class Look(NamedTuple):
    """At a stack's drift: when, and how many resources differed."""

    looked: float
    resources: int


class Told(Protocol):
    """What one source tells."""

    def tell(self, values: Mapping[Labels, Any]) -> None: ...


class Series:
    """What one source tells by a gauge: what it tells no more goes, and what it tells still is never away meanwhile."""

    def __init__(self, gauge: Gauge) -> None:
        self.gauge, self.known = gauge, set[Labels]()

    def tell(self, values: Mapping[Labels, float]) -> None:
        for labels, value in values.items():
            self.gauge.labels(*labels).set(value)
        for labels in self.known - values.keys():
            self.gauge.remove(*labels)
        self.known = {*values}


class Looks:
    """The same of two gauges that one reading is of."""

    def __init__(self) -> None:
        self.looked, self.resources = Series(drift_looked_seconds), Series(drift_resources)

    def tell(self, values: Mapping[Labels, Look]) -> None:
        self.looked.tell({labels: look.looked for labels, look in values.items()})
        self.resources.tell({labels: look.resources for labels, look in values.items()})
