"""Work that has GPUs or waits for some: runs of the queues, and pods that nobody queued. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from fleet.team_storage import namespace
from landbridge.queue.runs import Run

from .cells import Machine, mean
from .snapshot import Pod, Snapshot

# Of the queues' states.
WAITING = ("waits", "stopped")


class Work(NamedTuple):
    """`run` is empty for a pod that is of none. `active` is the mean of its hosts, None where nothing measures."""

    space: str
    name: str
    run: str
    team: str
    person: str
    state: str
    place: str
    gpus: int
    pods: Sequence[Pod]
    since: datetime
    active: float | None
    why: str

    @property
    def waits(self) -> bool:
        return self.state in WAITING


def work(seen: Snapshot, machines: Iterable[Machine]) -> list[Work]:
    """Runs in the order of their queue, then what is in none, with the most GPUs first."""
    by_run = defaultdict[tuple[str, str], list[Pod]](list)
    for pod in seen.pods:
        by_run[pod.space, pod.run or f"pod/{pod.name}"].append(pod)
    there = {machine.node.name: machine for machine in machines}
    runs = seen.queues.runs if seen.queues else ()
    found = [_queued(run, by_run.pop((namespace(run.team), run.name), []), there) for run in runs]
    loose = [_loose(pods, there) for pods in by_run.values()]
    return [*found, *sorted(loose, key=lambda one: (-one.gpus, one.space, one.name))]


def active(pods: Iterable[Pod], there: Mapping[str, Machine]) -> float | None:
    """Pods that share a host share its mean."""
    hosts = dict.fromkeys(pod.node for pod in pods if pod.node in there)
    return mean(cell for host in hosts for cell in there[host].cells)


def _queued(run: Run, pods: Sequence[Pod], there: Mapping[str, Machine]) -> Work:
    person = next((pod.person for pod in pods if pod.person), "")
    before = f"{run.ahead} before it; " if run.ahead else ""
    return Work(
        space=namespace(run.team),
        name=run.name,
        run=run.name,
        team=run.team,
        person=person,
        state=run.state,
        place=run.place,
        gpus=run.gpus,
        pods=pods,
        since=run.since,
        active=active(pods, there),
        why=f"{before}{run.why}",
    )


def _loose(pods: Sequence[Pod], there: Mapping[str, Machine]) -> Work:
    first, homeless = pods[0], [pod for pod in pods if not pod.node]
    places = dict.fromkeys(there[pod.node].node.place for pod in pods if pod.node in there)
    return Work(
        space=first.space,
        name=first.run or first.name,
        run=first.run,
        team=first.team or first.space,
        person=first.person,
        state="waits" if len(homeless) == len(pods) else "runs",
        place=", ".join(places),
        gpus=sum(pod.gpus for pod in pods),
        pods=pods,
        since=min(pod.since for pod in pods),
        active=active(pods, there),
        why=f"{len(homeless)} of {len(pods)} pods have no machine yet" if homeless else "",
    )
