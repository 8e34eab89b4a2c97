"""What holds GPUs in queues that are to go: Kueue keeps a queue until nothing does, and whoever deletes it waits."""

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from landbridge.cluster.kube import Kube, KubeError
from landbridge.errors import LandbridgeError

from .look import QUEUES, WORKLOADS
from .runs import gpus_of, holds

# Kueue suspends what runs, and pods have a minute to write a checkpoint.
SECONDS, PAUSE_SECONDS = 240.0, 1.0


class Held(NamedTuple):
    """One run. `queue` is its team; `owner` is what it was made as, such as jobset/pair."""

    queue: str
    space: str
    owner: str
    gpus: int

    def __str__(self) -> str:
        return f"{self.owner} of {self.queue} ({self.gpus} GPUs)"


def held(kube: Kube, queues: Collection[str] | None = None) -> list[Held]:
    """All of it, or what is in those queues; nothing in a cluster without Kueue. Raises KubeError."""
    try:
        found = kube.get(WORKLOADS, "--all-namespaces")["items"]
    except KubeError as error:
        if "doesn't have a resource type" in error.result.err:
            return []
        raise
    every = sorted(_held(one) for one in found if holds(one))
    return [one for one in every if queues is None or one.queue in queues]


def _held(workload: Mapping[str, Any]) -> Held:
    meta = workload["metadata"]
    owner = next(iter(meta.get("ownerReferences") or []), {"kind": "Workload", "name": meta["name"]})
    name = f"{owner['kind'].lower()}/{owner['name']}"
    return Held(workload["status"]["admission"]["clusterQueue"], meta["namespace"], name, gpus_of(workload))


def refusal(stack: str, found: Iterable[Held], options: str) -> Iterator[str]:
    """Why `stack` must not lose the queues of those. `options` say to a command which cluster is meant."""
    spaces: dict[str, list[Held]] = {}
    for one in found:
        spaces.setdefault(one.space, []).append(one)
    for space, those in spaces.items():
        names = " ".join(one.owner for one in those)
        yield (
            f"{stack}: the run deletes the queue of {', '.join(map(str, those))}, and Kueue keeps it for as long as "
            "that holds GPUs. Wait for the end, or make one: "
            f"`landbridge kubectl{options} --namespace {space} delete {names}`"
        )


def drain(kube: Kube, tell: Callable[[str], None]) -> list[Held]:
    """Sends back what holds GPUs in any queue, and waits until nothing does; gives what did.

    Raises KubeError, LandbridgeError where something goes on, and what `tell` raises: the queues are as before then.
    """
    first = held(kube)
    queues = sorted({one.queue for one in first})
    try:
        _stop(kube, queues, "HoldAndDrain")
        _until_none(kube, tell)
    except BaseException:
        _stop(kube, queues, "None")
        raise
    return first


def _stop(kube: Kube, queues: Iterable[str], policy: str) -> None:
    for queue in queues:
        kube.done("patch", QUEUES, queue, "--type=merge", f"--patch={json.dumps({'spec': {'stopPolicy': policy}})}")


def _until_none(kube: Kube, tell: Callable[[str], None]) -> None:
    deadline = time.monotonic() + SECONDS
    while left := held(kube):
        listed = ", ".join(map(str, left))
        tell(f"{listed} ends")
        if time.monotonic() > deadline:
            raise LandbridgeError(
                f"After {SECONDS:.0f} s this still holds GPUs, though its queue sends it back: {listed}. Pods on nodes "
                "that do not answer never end by themselves: `landbridge kubectl delete pod NAME --force` does it."
            )
        time.sleep(PAUSE_SECONDS)
