"""Which of the node's GPUs a pod holds: what plays their driver has them at work then (played/state.py)."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from kube_http import Json

from .played.state import HELD

RESOURCE = "nvidia.com/gpu"


class Held:
    """As the kubelet hands them out: the first that are free, from a pod's start to its end."""

    def __init__(self, node: str, number: int, folder: Path) -> None:
        self.node, self.number, self.file = node, number, folder / HELD
        # GPU → the pod's uid, and its name.
        self.held: dict[int, tuple[str, str]] = {}

    def listed(self, pods: Iterable[Json]) -> None:
        """All pods of the node. Raises OSError, as `heard` does."""
        now = {pod["metadata"]["uid"]: pod for pod in pods}
        self.held = {gpu: who for gpu, who in self.held.items() if who[0] in now}
        for pod in now.values():
            self.take(pod)
        self.tell()

    def heard(self, kind: str, pod: Json) -> None:
        """A change of one of them."""
        before = dict(self.held)
        if kind == "DELETED":
            self.leave(pod)
        else:
            self.take(pod)
        if self.held != before:
            self.tell()

    def take(self, pod: Json) -> None:
        if (pod.get("status") or {}).get("phase") != "Running":
            return self.leave(pod)
        meta = pod["metadata"]
        has = sum(1 for uid, _ in self.held.values() if uid == meta["uid"])
        free = [gpu for gpu in range(self.number) if gpu not in self.held]
        for gpu in free[: max(0, sum(wanted(pod)) - has)]:
            self.held[gpu] = meta["uid"], f"{meta['namespace']}/{meta['name']}"
        return None

    def leave(self, pod: Json) -> None:
        self.held = {gpu: who for gpu, who in self.held.items() if who[0] != pod["metadata"]["uid"]}

    def tell(self) -> None:
        told = {"node": self.node, "held": {str(gpu): name for gpu, (_, name) in sorted(self.held.items())}}
        fresh = self.file.with_suffix(".new")
        fresh.write_text(json.dumps(told, indent=1) + "\n")
        fresh.replace(self.file)


def wanted(pod: Json) -> Iterator[int]:
    for one in pod["spec"]["containers"]:
        yield int(((one.get("resources") or {}).get("limits") or {}).get(RESOURCE, 0))
