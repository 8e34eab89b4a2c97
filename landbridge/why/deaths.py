"""What ended in a cluster, and why each did: for a list of the last hours, and for a report of a month. Pure."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from components.pools.labels import GPU_RESOURCE
from evidence import pods
from evidence.causes import waiting
from evidence.judge import Verdict
from evidence.observation import Json, Observation, moment
from fleet.team_storage import team_of

from .case import Case
from .concerns import Index, of_this
from .target import POD

# What a pod shows that has not failed, beside waiting.
ENDLESS = ("done", "completed", "deleting", "gone")
# Ends as they should be.
WELL = ("done", "finished", "scaled", "nothing")


class Death(NamedTuple):
    """`at` is its end, in seconds of the epoch, and `seconds` how long it had been there with its GPUs."""

    pod: Json
    verdict: Verdict
    at: float
    seconds: float
    gpus: int
    pool: str

    @property
    def title(self) -> str:
        return f"{self.pod['metadata']['namespace']}/{self.pod['metadata']['name']}"

    @property
    def team(self) -> str:
        """Empty for what is no team's."""
        return team_of(str(self.pod["metadata"]["namespace"]))

    @property
    def gpu_hours(self) -> float:
        return self.gpus * self.seconds / 3600


def of_now(found: Iterable[Json]) -> Iterator[Death]:
    """Of pods as they are."""
    for pod in found:
        seen = pods.of_pod(pod)
        if at := ended(seen):
            yield _death(pod, Case(POD, pod, there=True, works={}, seen=seen, blind=()).verdict, at, "")


def of_records(seen: Iterable[Observation], since: float = 0.0) -> Iterator[Death]:
    """All that ended, as it should or not, and that is known."""
    index = Index(seen)
    for kept in list(index.records[POD].values()):
        pod = kept.facts["object"]
        mine = of_this(index.of_pod(pod), kept.uid)
        gone = index.ended(pod)
        at = ended([one for one in mine if one.about == kept.about]) or (gone if gone < float("inf") else 0.0)
        if at > since and at:
            there = gone == float("inf")
            yield _death(
                pod,
                Case(POD, pod, there=there, works={}, seen=mine, blind=()).verdict,
                at,
                str(kept.facts.get("pool", "")),
            )


def ended(own: Iterable[Observation]) -> float:
    """When it failed last; 0 where it did not."""
    return max((one.at for one in own if one.code not in {*ENDLESS, *waiting()}), default=0.0)


def _death(pod: Json, verdict: Verdict, at: float, pool: str) -> Death:
    begun = moment((pod.get("status") or {}).get("startTime"))
    return Death(pod, verdict, at, max(0.0, at - begun) if begun else 0.0, gpus(pod), pool)


def gpus(pod: Json) -> int:
    found = [(one.get("resources") or {}).get("limits") or {} for one in pod["spec"].get("containers") or []]
    return sum(int(one.get(GPU_RESOURCE, 0)) for one in found)


def failed(found: Iterable[Death]) -> list[Death]:
    """Those that did not end as they should, the newest first."""
    return sorted((one for one in found if one.verdict.code not in WELL), key=lambda one: one.at, reverse=True)
