"""Who held which GPUs, and for how long: of pods that are there, and of records of those that were. Pure."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from components.pools import labels
from evidence.observation import Json, moment
from fleet.team_storage import team_of
from landbridge.experiments.manifest import PERSON, RUN
from landbridge.why.deaths import WELL, Death, gpus


class Held(NamedTuple):
    """GPUs of one pod, from `begun` to `until`, in seconds of the epoch. `lost`: it ended as it should not have.

    What is empty is not known: who it was where no run was launched, the pool of a node that is gone.
    """

    uid: str
    team: str
    person: str
    run: str
    pool: str
    gpus: int
    begun: float
    until: float
    lost: bool = False

    @property
    def hours(self) -> float:
        return self.gpus * max(0.0, self.until - self.begun) / 3600


def of_pods(pods: Iterable[Json], nodes: Iterable[Json], now: float) -> Iterator[Held]:
    """Of those that have a node. What runs has its GPUs still."""
    pools = {one["metadata"]["name"]: (one["metadata"].get("labels") or {}).get(labels.POOL, "") for one in nodes}
    for pod in pods:
        status, begun = pod.get("status") or {}, moment((pod.get("status") or {}).get("startTime"))
        if begun and gpus(pod):
            ended = status.get("phase") in ("Succeeded", "Failed")
            until = _finished(status) or begun if ended else now
            pool = pools.get(pod["spec"].get("nodeName", ""), "")
            yield _held(pod, pool, begun, until, lost=status.get("phase") == "Failed")


def of_deaths(deaths: Iterable[Death]) -> Iterator[Held]:
    for one in deaths:
        if one.gpus and one.seconds:
            yield _held(one.pod, one.pool, one.at - one.seconds, one.at, lost=one.verdict.code not in WELL)


def within(there: Iterable[Held], were: Iterable[Held], since: float) -> list[Held]:
    """Each pod once, of which the cluster knows best, and of each what lies behind `since`."""
    found = {one.uid: one for one in were} | {one.uid: one for one in there}
    return [one._replace(begun=max(one.begun, since)) for one in found.values() if one.until > since]


def _held(pod: Json, pool: str, begun: float, until: float, *, lost: bool) -> Held:
    meta = pod["metadata"]
    marks, uid = meta.get("labels") or {}, str(meta["uid"])
    return Held(
        uid,
        team_of(str(meta["namespace"])),
        marks.get(PERSON, ""),
        marks.get(RUN, ""),
        pool,
        gpus(pod),
        begun,
        until,
        lost,
    )


def _finished(status: Json) -> float:
    ends = [(one.get("state") or {}).get("terminated") or {} for one in status.get("containerStatuses") or ()]
    return max((moment(one.get("finishedAt")) for one in ends), default=0.0)
