"""Machines that are confirmed gone: their nodes are removed, their certificates shut out for as long as they last.

A certificate can't be taken back, so the names stand in a ConfigMap that an admission policy reads
(components/pools/admission.py). What deletes has breakers: a region that does not answer confirms nothing, a site's
hosts are nobody's to delete, few machines go in one pass, and none while the freeze is on.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from instances import Instances
from machine import say
from nodes import PATH, Node, Nodes

from kube_http import Answer, Json, Kube

CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"
FREEZE, DEPARTED = f"{CONFIG_MAPS}/landbridge-freeze", f"{CONFIG_MAPS}/landbridge-departed"
# kube-controller-manager signs for a week; a request that was approved in the last moment is signed a little later.
RETENTION = timedelta(days=7, hours=2)
LEAST, SHARE = 3, 10
# A ConfigMap holds 1 MiB, an entry 45 bytes.
MOST_ENTRIES = 20_000
# Until every API server's admission has read the ConfigMap again.
SETTLE_SECONDS = 2.0
STAMP = "%Y-%m-%dT%H:%M:%SZ"


class Pass(NamedTuple):
    """Whom to remove now, and how many have to wait for the next pass."""

    take: tuple[str, ...]
    held: int


def bounded(gone: Iterable[str], nodes: int) -> Pass:
    """The breaker: a tenth of all nodes at most, but three in any case."""
    names, most = sorted(gone), max(LEAST, nodes // SHARE)
    return Pass(tuple(names[:most]), max(0, len(names) - most))


def merged(data: Mapping[str, str] | None, names: Collection[str], now: datetime) -> dict[str, str]:
    """Name → until when it is shut out; those whose time is over are left out, and bad times count as new ones."""
    until = (now + RETENTION).strftime(STAMP)
    kept = {name: text if _is_stamp(text) else until for name, text in (data or {}).items()}
    kept = {name: text for name, text in kept.items() if text > now.strftime(STAMP)} | dict.fromkeys(names, until)
    latest = sorted(kept.items(), key=lambda one: one[1])[-MOST_ENTRIES:]
    return dict(sorted(latest))


def _is_stamp(text: str) -> bool:
    try:
        return datetime.strptime(text, STAMP).replace(tzinfo=UTC).strftime(STAMP) == text
    except ValueError:
        return False


def candidates(
    nodes: Iterable[Node], known: Mapping[str, Collection[str]], named: Callable[[str, str], bool]
) -> dict[str, str]:
    """Instance → region, of all that could have gone: nodes in clouds, and machines seen in `known`, by region.

    `named` tells whether a region's machine may have a node's name.
    """
    found = {name: region for region, names in known.items() for name in names}
    for node in nodes:
        if node.place in known and named(node.place, node.name):
            found.setdefault(node.name, node.place)
    return found


class Departures:
    def __init__(self, kube: Kube, nodes: Nodes, instances: Instances, gone_seconds: float) -> None:
        self.kube, self.nodes, self.instances, self.gone_seconds = kube, nodes, instances, gone_seconds
        self.shut: frozenset[str] = frozenset()
        self.reported = ""

    def run(self, seconds: float) -> None:
        """For ever."""
        self.nodes.complete.wait()
        while True:
            try:
                self.once()
            except (Answer, OSError) as error:
                self.tell(f"no node is removed, and none shut out: {error}")
            time.sleep(seconds)

    def once(self) -> None:
        """One pass. Raises Answer, OSError."""
        known = {name: frozenset(region.known) for name, region in self.instances.regions.items()}
        everybody = {node.name: node for node in self.nodes.all()}
        gone = {
            name: region
            for name, region in candidates(everybody.values(), known, self.named).items()
            if self.instances.regions[region].gone(name, self.gone_seconds)
        }
        written = self.kube.ask("GET", DEPARTED)
        data = merged(written.get("data"), (), datetime.now(UTC))
        self.shut = frozenset(data)
        new = {name: region for name, region in gone.items() if name in everybody or name not in data}
        take = self.allowed(new, len(everybody))
        wish = merged(data, [name for name in take if name not in data], datetime.now(UTC))
        if wish != (written.get("data") or {}):
            # First shut out, then removed: a node that still lives would make itself again.
            self.kube.ask("PUT", DEPARTED, {**written, "data": wish})
            self.shut = frozenset(wish)
            time.sleep(SETTLE_SECONDS if take else 0)
        for name in take:
            if name in everybody:
                self.remove(everybody[name])
            self.instances.regions[gone[name]].forget(name)

    def named(self, region: str, name: str) -> bool:
        return self.instances.regions[region].source.names(name)

    def allowed(self, gone: Collection[str], nodes: int) -> tuple[str, ...]:
        if not gone:
            self.tell("")
            return ()
        if (frozen := self.frozen()) is not None:
            self.tell(f"{len(gone)} machines are gone, but the cluster is frozen ({frozen}): no node is removed")
            return ()
        take, held = bounded(gone, nodes)
        self.tell(
            f"BREAKER: {len(take)} of {len(take) + held} machines go in this pass, of {nodes} nodes" if held else ""
        )
        return take

    def frozen(self) -> str | None:
        """Why, or None."""
        try:
            found = self.kube.ask("GET", FREEZE)
        except Answer as answer:
            if answer.status == 404:
                return None
            raise
        return ascii(str((found.get("data") or {}).get("why", "")))[:200]

    def remove(self, node: Node) -> None:
        wish: Json = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": node.uid}}
        try:
            self.kube.ask("DELETE", f"{PATH}/{node.name}", wish)
        except Answer as answer:
            if answer.status not in (404, 409):
                raise
            return
        say(f"removed the node {node.name} of pool {node.pool}: {node.place} has no such instance any more")

    def tell(self, text: str) -> None:
        """Once, until it is another."""
        if text and text != self.reported:
            say(text)
        self.reported = text
