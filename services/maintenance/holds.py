"""Keeps Kueue's count of a site's GPUs to what may be begun on: a hold for each host that is closed."""

from collections.abc import Collection, Mapping, Sequence

from fleet import maintenance_holds as kueue
from fleet.maintenance import stamp
from kube_http import Answer, Json, Kube

from .marks import CLOSED, Planned
from .nodes import Node

APPLY = "application/apply-patch+yaml"
MANAGER = "?fieldManager=landbridge-maintenance&force=true"
GONE, THERE = 404, 409


def wanted(
    nodes: Mapping[str, Node], planned: Mapping[str, Sequence[Planned]], sites: Collection[str]
) -> dict[str, Json]:
    """By their names."""
    found = {}
    for name, node in nodes.items():
        closed = any(state.phase in CLOSED for _, state in planned.get(name, ()))
        if closed and node.gpus and node.place in sites:
            found[kueue.name(name)] = kueue.manifest(name, node.place, node.gpus)
    return found


class Holds:
    """`sites` are those that Kueue counts: empty in a cluster without queues."""

    def __init__(self, kube: Kube, sites: Collection[str]) -> None:
        self.kube, self.sites = kube, sites
        # Whether some may be there: an earlier leader may have left them.
        self.any = True

    def step(self, nodes: Mapping[str, Node], planned: Mapping[str, Sequence[Planned]], now: float) -> None:
        """Raises Answer, OSError."""
        if not self.sites:
            return
        held = wanted(nodes, planned, self.sites)
        if not held and not self.any:
            return
        there = {one["metadata"]["name"]: one for one in self.kube.ask("GET", kueue.PATH)["items"] if _ours(one)}
        for name in there.keys() - held.keys():
            self._ask("DELETE", f"{kueue.PATH}/{name}", None)
        for name in held.keys() - there.keys():
            self._ask("POST", kueue.PATH, held[name])
        for name, one in there.items():
            if name in held and kueue.true(one, "Admitted") and not kueue.true(one, kueue.READY):
                path = f"{kueue.PATH}/{name}/status{MANAGER}"
                self._ask("PATCH", path, kueue.ready(one, stamp(now)), APPLY)
        self.any = bool(held)

    def _ask(self, method: str, path: str, body: Json | None, kind: str = "application/json") -> None:
        try:
            self.kube.ask(method, path, body, kind)
        except Answer as answer:
            if answer.status not in (GONE, THERE):
                raise


def _ours(workload: Json) -> bool:
    return kueue.MADE_BY.items() <= (workload["metadata"].get("labels") or {}).items()
