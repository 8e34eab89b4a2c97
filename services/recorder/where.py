"""Whose pods are on which node, and of which pool a node is: what a pod's own object does not say."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from evidence.observation import Json

# As components/pools/labels.py has it.
POOL = "landbridge.dev/pool"
# What becomes of a node after its pods is still theirs to know.
LATELY_SECONDS = 3600.0


class Where:
    """Threads of pods and of nodes tell it, and the one that writes asks."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self.lock, self.now = threading.Lock(), now
        self.nodes: dict[str, dict[str, Any]] = {}
        self.left: dict[str, float] = {}
        self.pods: dict[str, tuple[str, str]] = {}
        self.here: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.lately: defaultdict[str, dict[str, float]] = defaultdict(dict)

    def node(self, node: Json) -> None:
        meta = node["metadata"]
        facts = {"pool": (meta.get("labels") or {}).get(POOL, ""), "machine": node["spec"].get("providerID", "")}
        with self.lock:
            self.nodes[meta["name"]] = facts
            self.left.pop(meta["name"], None)

    def node_left(self, node: Json) -> None:
        """Its pods go after it, and are recorded as its own."""
        with self.lock:
            now = self.left[node["metadata"]["name"]] = self.now()
            for name in [one for one, at in self.left.items() if now - at > LATELY_SECONDS]:
                del self.left[name], self.nodes[name]

    def pod(self, pod: Json) -> None:
        meta, node = pod["metadata"], str(pod["spec"].get("nodeName") or "")
        with self.lock:
            if node and meta["uid"] not in self.pods:
                self.pods[meta["uid"]] = node, meta["namespace"]
                self.here[node][meta["namespace"]] += 1

    def pod_left(self, pod: Json) -> None:
        with self.lock:
            if (found := self.pods.pop(pod["metadata"]["uid"], None)) is None:
                return
            node, space = found
            self.here[node][space] -= 1
            if not self.here[node][space]:
                del self.here[node][space]
                self.lately[node][space] = self.now()

    def of_pod(self, pod: Json) -> Mapping[str, Any]:
        """What its record has beside it."""
        with self.lock:
            return self.nodes.get(str(pod["spec"].get("nodeName") or ""), {})

    def spaces(self, node: str) -> set[str]:
        """Namespaces with pods there, now or in the last hour."""
        with self.lock:
            left, since = self.lately.get(node, {}), self.now() - LATELY_SECONDS
            for space in [one for one, at in left.items() if at < since]:
                del left[space]
            return {*self.here.get(node, ()), *left}
