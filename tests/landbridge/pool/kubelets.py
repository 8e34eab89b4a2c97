"""A real API server whose kubelets are played: machines of a local cloud join as nodes, whichever cloud that is."""

import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from typing import Any

from local.providers.kubernetes.api import ApiError
from tests.support.apiserver import Server


@dataclass
class Kubelets(ABC):
    """`dead` are machines that never join. `taint` is a taint that those have which join from now on."""

    api: Server
    dead: set[str] = field(default_factory=set, kw_only=True)
    joining: bool = field(default=True, kw_only=True)
    taint: str = field(default="", kw_only=True)

    @abstractmethod
    def joining_pools(self) -> Iterable[str]:
        """Those whose machines join as nodes."""

    @abstractmethod
    def live(self, pool: str) -> Set[str]:
        """A pool's machines that run, by their nodes' names."""

    def nodes(self) -> dict[str, dict[str, Any]]:
        return {one["metadata"]["name"]: one for one in self.api.api.call("GET", "/api/v1/nodes")["items"]}

    def at_work(self, pool: str) -> set[str]:
        """Machines that live and are nodes."""
        return {*self.live(pool)} & set(self.nodes())

    def pod(self, name: str, node: str, *, daemon: bool = False, gpus: int = 0) -> None:
        owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "1", "controller": True}
        asks = {"limits": {"nvidia.com/gpu": str(gpus)}} if gpus else {}
        pod = {
            "metadata": {"name": name, **({"ownerReferences": [owner]} if daemon else {})},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": "example.com/c", "resources": asks}]},
        }
        self.api.api.call("POST", "/api/v1/namespaces/default/pods", None, pod)

    def end_pod(self, name: str) -> None:
        """It is gone afterwards, even where the thread that plays kubelets was quicker."""
        try:
            self.api.api.call("DELETE", f"/api/v1/namespaces/default/pods/{name}", None, {"gracePeriodSeconds": 0})
        except ApiError as problem:
            if problem.code != 404:
                raise

    def pods(self) -> list[dict[str, Any]]:
        return list(self.api.api.call("GET", "/api/v1/namespaces/default/pods")["items"])

    @contextlib.contextmanager
    def playing(self) -> Iterator[None]:
        over = threading.Event()
        thread = threading.Thread(target=self._play, args=(over,))
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _play(self, over: threading.Event) -> None:
        while not over.wait(0.2):
            for pool in self.joining_pools():
                there = self.nodes()
                for name in self.live(pool) - set(there) - self.dead if self.joining else ():
                    with contextlib.suppress(ApiError):
                        self.api.api.call("POST", "/api/v1/nodes", None, node(name, pool, self.taint))
            for pod in self.pods():
                # A kubelet's part in an eviction.
                if "deletionTimestamp" in pod["metadata"]:
                    with contextlib.suppress(ApiError):
                        self.end_pod(pod["metadata"]["name"])


def node(name: str, pool: str, taint: str = "") -> dict[str, Any]:
    has = {"cpu": "8", "memory": "32Gi", "pods": "110", **({"nvidia.com/gpu": "8"} if pool.endswith("gpu") else {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"landbridge.dev/pool": pool}},
        "spec": {"taints": [{"key": taint, "value": "true", "effect": "NoSchedule"}] if taint else []},
        "status": {"capacity": has, "allocatable": has, "conditions": [{"type": "Ready", "status": "True"}]},
    }
