"""Goes through all plans and their nodes, and brings what stands in the cluster to what should.

All that is decided stands in the plans' own status, which is written before anything is done to a node: whoever comes
after a killed one goes on from there, and a plan that was changed meanwhile is looked at anew.
"""

import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fleet import maintenance
from fleet.maintenance import NodeState, Plan
from kube_http import MERGE, STRATEGIC, Answer, Json, Kube

from . import announcements, drains, marks, nodes, pods, steps
from .breakers import Breakers
from .holds import Holds
from .marks import Planned
from .nodes import Node
from .owners import Owners
from .pods import Pods
from .settings import Settings
from .telling import Telling

WORKERS = 8
# Of nodes where nothing is near, pods are looked at seldom: whoever has come since is told.
FAR_SECONDS = 60.0
NEAR = ("closed", "draining")
KEPT_SECONDS = 7 * 86_400.0
# What is gone or has changed since it was read is seen in the next look.
CHANGED = (404, 409)
Say = Callable[[str], None]


class Keeper:
    """One thread calls `step`; those that watch call `plan`, `node` and what lists them."""

    def __init__(
        self,
        kube: Kube,
        told: Settings,
        frozen: Callable[[], str],
        say: Say,
        now: Callable[[], float] = time.time,
        webhooks: Path | None = None,
    ) -> None:
        self.kube, self.told, self.frozen, self.say, self.now = kube, told, frozen, say, now
        self.plans: dict[str, Plan] = {}
        self.nodes: dict[str, Node] = {}
        self.lock, self.changed = threading.Lock(), threading.Event()
        self.telling, self.looked = Telling(kube), dict[str, float]()
        self.holds, self.owners = Holds(kube, told.queued), Owners(webhooks, told.cluster)
        # Why pods of a node that is drained do not go.
        self.stuck: dict[str, str] = {}

    def plan_seen(self, change: str, thing: Json) -> None:
        self._seen(self.plans, change, thing, maintenance.read)

    def node_seen(self, change: str, thing: Json) -> None:
        self._seen(self.nodes, change, thing, nodes.read)

    def listed(self, known: dict[str, Any], found: list[Any]) -> None:
        with self.lock:
            known.clear()
            known.update({one.name: one for one in found})
        self.changed.set()

    def _seen(self, known: dict[str, Any], change: str, thing: Json, read: Callable[[Json], Any]) -> None:
        """Of thousands of nodes one says every moment that it lives: that is no news."""
        name, fresh = thing["metadata"]["name"], None if change == "DELETED" else read(thing)
        with self.lock:
            before = known.pop(name, None)
            if fresh is not None:
                known[name] = fresh
        if before is None or fresh is None or before._replace(version=fresh.version) != fresh:
            self.changed.set()

    def step(self) -> float:
        """One look; when time alone makes the next one necessary. Raises Answer, OSError."""
        now = self.now()
        with self.lock:
            plans, there = dict(self.plans), dict(self.nodes)
        breakers = Breakers(self.told.maintenance, self.frozen(), there, plans)
        planned: dict[str, list[Planned]] = defaultdict(list)
        looks = self._looks(plans, there, now)
        dues = []
        self._forget(plans, now)
        self._announced(plans, there, now)
        for plan in sorted(plans.values(), key=lambda one: (one.start, one.name)):
            states = self._states(plan, there, looks, breakers, now)
            if not self._written(plan, states):
                # Somebody has changed it: until that is seen, all stays as it is.
                states = dict(plan.nodes)
            dues.append(steps.due(plan, states, now))
            for name, state in states.items():
                if name in there and state.phase != "done":
                    planned[name].append((plan, state))
        self.holds.step(there, planned, now)
        touched = [name for name, node in there.items() if node.marked or name in planned]
        with ThreadPoolExecutor(WORKERS) as threads:
            list(threads.map(lambda name: self._node(there[name], planned[name], looks.get(name), now), touched))
        return min(dues, default=float("inf"))

    def _looks(self, plans: Mapping[str, Plan], there: Mapping[str, Node], now: float) -> dict[str, Pods]:
        """The pods of nodes where it matters just now who is there."""
        near = {name for plan in plans.values() for name, one in plan.nodes.items() if one.phase in NEAR}
        meant = {name for name, node in there.items() if any(_open(plan, node) for plan in plans.values())}
        wanted = [name for name in sorted(meant) if name in near or now - self.looked.get(name, 0.0) >= FAR_SECONDS]
        with ThreadPoolExecutor(WORKERS) as threads:
            found = threads.map(lambda name: pods.of_node(self.kube, name, self.told.fills), wanted)
            looks = dict(zip(wanted, found, strict=True))
        self.looked = {name: at for name, at in self.looked.items() if name in meant} | dict.fromkeys(looks, now)
        return looks

    def _states(
        self, plan: Plan, there: Mapping[str, Node], looks: Mapping[str, Pods], breakers: Breakers, now: float
    ) -> dict[str, NodeState]:
        meant = {name for name, node in there.items() if nodes.meant(plan, node)} if not plan.cancelled else set()
        found: dict[str, NodeState] = {}
        for name in sorted(meant | plan.nodes.keys()):
            node = there.get(name)
            before = plan.nodes.get(name)

            def holds(node: Node | None = node) -> str:
                return breakers.holds(plan, node, now) if node else ""

            found[name] = steps.after(plan, before, node, looks.get(name), now, holds, self.stuck.get(name, ""))
            if node and found[name].phase in maintenance.AWAY:
                breakers.goes(node)
        return found

    def _forget(self, plans: dict[str, Plan], now: float) -> None:
        """Plans that were over long ago."""
        for name, plan in [*plans.items()]:
            states = plan.nodes.values()
            last = max((one.since for one in states), default=max(plan.end, plan.start))
            if steps.over(plan) and now - last > KEPT_SECONDS:
                try:
                    self.kube.ask("DELETE", f"{maintenance.PATH}/{name}")
                except Answer as answer:
                    if answer.status not in CHANGED:
                        raise
                del plans[name]

    def _announced(self, plans: Mapping[str, Plan], there: Mapping[str, Node], now: float) -> None:
        """What this changes is seen as all others' changes are."""
        closed = self.told.maintenance.closed_minutes * 60
        for method, name, body in announcements.changes(there, plans, closed, now):
            announcements.write(self.kube, method, name, body)
            self.say(f"{name}: {body['spec'].get('why') or json.dumps(body['spec'])}")

    def _written(self, plan: Plan, states: Mapping[str, NodeState]) -> bool:
        """Whether the plan's status says so: nothing is done by what nobody could go on from."""
        if states == plan.nodes:
            return True
        after = plan._replace(nodes=states)
        status = {"phase": steps.phase(after), "nodes": {name: _whole(one) for name, one in states.items()}}
        body = {"metadata": {"resourceVersion": plan.version}, "status": status}
        try:
            told = self.kube.ask("PATCH", f"{maintenance.PATH}/{plan.name}/status", body, MERGE)
        except Answer as answer:
            if answer.status not in CHANGED:
                raise
            return False
        with self.lock:
            known = self.plans.get(plan.name)
            if known and known.version == plan.version:
                self.plans[plan.name] = maintenance.read(told)
        self._tell(plan, states)
        self.owners.tell(plan, plan.nodes, states)
        return True

    def _tell(self, plan: Plan, states: Mapping[str, NodeState]) -> None:
        for name, state in states.items():
            before = plan.nodes.get(name)
            if (state.phase, state.why) != ((before.phase, before.why) if before else None):
                self.say(f"{plan.name}: {name} is {state.phase}{f': {state.why}' if state.why else ''}")

    def _node(self, node: Node, planned: list[Planned], there: Pods | None, now: float) -> None:
        """Its pods first: of what stands on a node they were told."""
        wanted, path = marks.wanted(planned, now), f"{nodes.PATH}/{node.name}"
        if there is None and node.annotation != wanted.annotation:
            there = pods.of_node(self.kube, node.name, self.told.fills)
        if there is not None:
            self.telling.tell(node.name, planned, there, now)
        if (body := marks.patch(node, wanted)) is not None and not self._patch(path, body, MERGE):
            return
        if (change := marks.condition(node, wanted, now)) is not None:
            self._patch(f"{path}/status", {"status": {"conditions": [change]}}, STRATEGIC)
        if there is not None:
            self._drain(node, planned, there, now)

    def _drain(self, node: Node, planned: list[Planned], there: Pods, now: float) -> None:
        acts = {steps.act(plan, state, now) for plan, state in planned} - {""}
        self.stuck.pop(node.name, None)
        if acts:
            self.stuck[node.name] = drains.drain(self.kube, there, delete="delete" in acts)

    def _patch(self, path: str, body: Json, kind: str) -> bool:
        try:
            self.kube.ask("PATCH", path, body, kind)
        except Answer as answer:
            if answer.status not in CHANGED:
                raise
            return False
        return True


def _whole(state: NodeState) -> Json:
    """A merge patch takes away what is named and nothing else."""
    return {**dict.fromkeys(NodeState._fields), **state.as_json()}


def _open(plan: Plan, node: Node) -> bool:
    state = plan.nodes.get(node.name)
    return not plan.cancelled and nodes.meant(plan, node) and (state is None or state.phase != "done")
