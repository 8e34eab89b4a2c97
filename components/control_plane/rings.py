"""The two etcd clusters of a control plane, on the same machines."""

from typing import NamedTuple


class Ring(NamedTuple):
    """Ports: clients', peers' and, on loopback, metrics'. `backup_minutes` lie between two snapshots."""

    name: str
    client_port: int
    peer_port: int
    metrics_port: int
    backup_minutes: int
    what: str


MAIN = Ring("main", 2379, 2380, 2383, 15, "everything but events")
EVENTS = Ring("events", 2381, 2382, 2384, 60, "events: a storm of them must not slow the rest")
RINGS = (MAIN, EVENTS)
