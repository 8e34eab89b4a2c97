"""Lets work onto a GPU machine when its GPUs are there, and keeps it off one whose GPUs do not come or have gone.

A kubelet can't take its own taints away (NodeRestriction), so somebody has to who sees what the node advertises.
"""

import queue
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from join_rules import Pool
from machine import say
from nodes import PATH, Node, Nodes

from kube_http import MERGE, Answer, Json, Kube

# components/pools/labels.py has the same: a test compares.
STARTING = "startup-taint.cluster-autoscaler.kubernetes.io/gpu"
FAILED = {"key": "landbridge.dev/gpu-failed", "value": "true", "effect": "NoSchedule"}
LOOK_SECONDS = 5.0
EVENTS = "/api/v1/namespaces/default/events"
Change = Literal["ready", "failed", "recovered"]


class Step(NamedTuple):
    change: Change
    taints: tuple[tuple[tuple[str, str], ...], ...]
    why: str


def step(node: Node, wanted: int, short: float | None, patience: float) -> Step | None:
    """What to do with a node of a pool with so many GPUs; `short` is for how many seconds it has had fewer.

    A node that is not ready is left alone: what it last said of its GPUs is no news of them.
    """
    rest = tuple(taint for taint in node.taints if not _any(taint, STARTING, FAILED["key"]))
    if not wanted or not node.ready:
        return None
    if node.gpus >= wanted:
        if node.has(FAILED["key"]):
            return Step("recovered", rest, f"all its {wanted} GPUs are there again")
        return Step("ready", rest, f"its {wanted} GPUs are there") if node.has(STARTING) else None
    if short is None or short < patience or node.has(FAILED["key"]):
        return None
    # Without the start-up taint: the autoscaler takes such a node for one that is on its way.
    failed = (*rest, tuple(sorted(FAILED.items())))
    return Step(
        "failed", failed, f"advertises {node.gpus} of {wanted} GPUs since {short:.0f} s: no new work comes to it"
    )


def _any(taint: tuple[tuple[str, str], ...], *keys: str) -> bool:
    return any(("key", key) in taint for key in keys)


def event(node: Node, done: Step, now: datetime) -> Json:
    """For `kubectl describe node`."""
    moment = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{node.name}.", "namespace": "default"},
        "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.name},
        "reason": {"failed": "GPUsMissing", "recovered": "GPUsBack", "ready": "GPUsReady"}[done.change],
        "message": done.why,
        "type": "Warning" if done.change == "failed" else "Normal",
        "source": {"component": "landbridge-joining"},
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
    }


class Taints:
    """Looks at a node when it changes, and at those that lack GPUs every few seconds."""

    def __init__(self, kube: Kube, pools: Mapping[str, Pool], patience: float) -> None:
        self.kube, self.pools, self.patience = kube, pools, patience
        # Names that wait for a look, each once, and how those nodes were last told to be: while a thousand machines
        # join, each changes ten times before its turn comes.
        self.waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.latest: dict[str, Node] = {}
        self.lock = threading.Lock()
        self.short: dict[str, float] = {}
        # Looked at again by themselves.
        self.failed: set[str] = set()

    def changed(self, node: Node) -> None:
        """To be looked at soon."""
        with self.lock:
            if node.name not in self.latest:
                self.waiting.put(node.name)
            self.latest[node.name] = node

    def next(self, seconds: float) -> Node:
        """Raises queue.Empty."""
        name = self.waiting.get(timeout=seconds)
        with self.lock:
            return self.latest.pop(name)

    def run(self, nodes: Nodes) -> None:
        """For ever."""
        following = time.monotonic() + LOOK_SECONDS
        while True:
            try:
                self.try_(self.next(max(0.0, following - time.monotonic())))
            except queue.Empty:
                following = time.monotonic() + LOOK_SECONDS
                known = {node.name: node for node in nodes.all()}
                self.short = {name: since for name, since in self.short.items() if name in known}
                again, self.failed = self.failed | self.short.keys(), set()
                for name in again & known.keys():
                    self.try_(known[name])

    def try_(self, node: Node) -> None:
        try:
            self.look(node)
        except (Answer, OSError) as error:
            self.failed.add(node.name)
            say(f"{node.name}: its taints stay as they are: {error}")

    def look(self, node: Node) -> None:
        pool = self.pools.get(node.pool)
        wanted, now = pool.gpus if pool else 0, time.monotonic()
        if not wanted or not node.ready or node.gpus >= wanted:
            self.short.pop(node.name, None)
        else:
            self.short.setdefault(node.name, now)
        since = self.short.get(node.name)
        done = step(node, wanted, None if since is None else now - since, self.patience)
        if done is None:
            return
        taints = [dict(taint) for taint in done.taints]
        # The version is compared: somebody else's taint must not get lost.
        patch = {"metadata": {"resourceVersion": node.version}, "spec": {"taints": taints or None}}
        try:
            self.kube.ask("PATCH", f"{PATH}/{node.name}", patch, MERGE)
        except Answer as answer:
            if answer.status == 409:
                # The change in between may be none that `Nodes` tells of.
                self.failed.add(node.name)
            if answer.status in (404, 409):
                return
            raise
        say(f"{node.name}: {done.why}")
        if done.change != "ready":
            self.kube.ask("POST", EVENTS, event(node, done, datetime.now(UTC)))
