"""What has not ended in queues that are to go: Kueue keeps a queue, and its own kinds, until all of that is gone."""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from fleet.team_storage import namespace
from landbridge.cluster.kube import Kube, KubeError
from landbridge.errors import LandbridgeError

from .look import WORKLOADS
from .runs import gpus_of, holds, is_over

# Pods have a minute to write a checkpoint.
SECONDS, PAUSE_SECONDS = 240.0, 1.0


class Unfinished(NamedTuple):
    """One piece of work. `name` is what it was made as, such as jobset/pair; `holds`: it has its GPUs."""

    space: str
    name: str
    gpus: int
    holds: bool

    def __str__(self) -> str:
        does = "holds" if self.holds else "waits for"
        return f"{self.name} in {self.space}, which {does} {self.gpus} GPUs"


def unfinished(kube: Kube, teams: Collection[str] | None = None) -> list[Unfinished]:
    """Of all, or of those teams; nothing in a cluster without Kueue. Raises KubeError."""
    try:
        found = kube.get(WORKLOADS, "--all-namespaces")["items"]
    except KubeError as error:
        if "doesn't have a resource type" in error.result.err:
            return []
        raise
    spaces = None if teams is None else {namespace(team) for team in teams}
    every = sorted(_read(one) for one in found if not is_over(one))
    return [one for one in every if spaces is None or one.space in spaces]


def _read(workload: Mapping[str, Any]) -> Unfinished:
    meta = workload["metadata"]
    owner = next(iter(meta.get("ownerReferences") or []), {"kind": "Workload", "name": meta["name"]})
    return Unfinished(meta["namespace"], f"{owner['kind'].lower()}/{owner['name']}", gpus_of(workload), holds(workload))


def refusal(stack: str, found: Iterable[Unfinished], options: str) -> Iterator[str]:
    """Why `stack` must not lose the queues of those. `options` say to a command which cluster is meant."""
    for space, those in _by_space(found).items():
        yield (
            f"{stack}: the run deletes the queue of {'; '.join(map(str, those))}. Kueue keeps it for that. Wait for "
            "the end, or make one: "
            f"`landbridge kubectl{options} --namespace {space} delete {' '.join(one.name for one in those)}`"
        )


def end(kube: Kube, tell: Callable[[str], None]) -> list[Unfinished]:
    """Ends all of it, and waits until it is gone; gives what that was.

    Raises KubeError, LandbridgeError where something stays, and what `tell` raises.
    """
    left = first = unfinished(kube)
    for space, those in _by_space(first).items():
        names = [one.name for one in those]
        kube.done("delete", *names, f"--namespace={space}", "--ignore-not-found", "--wait=false")
    deadline = time.monotonic() + SECONDS
    while left:
        listed = "; ".join(map(str, left))
        tell(f"ends {listed}")
        if time.monotonic() > deadline:
            raise LandbridgeError(
                f"After {SECONDS:.0f} s this has not ended, though it is deleted: {listed}. Pods on nodes that do not "
                "answer never end by themselves: `landbridge kubectl delete pod NAME --force` does it."
            )
        time.sleep(PAUSE_SECONDS)
        left = unfinished(kube)
    return first


def _by_space(found: Iterable[Unfinished]) -> dict[str, list[Unfinished]]:
    spaces = defaultdict[str, list[Unfinished]](list)
    for one in found:
        spaces[one.space].append(one)
    return spaces
