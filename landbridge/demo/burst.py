"""`landbridge demo burst`: a Job for far more GPUs than the site has, bought by the autoscaler and given back."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from components.addons.autoscaler_flags import FLAGS
from components.pools.labels import GPU_RESOURCE
from fleet.model import Pool
from landbridge.cluster.session import Session
from landbridge.errors import LandbridgeError

from . import burst_state
from .burst_state import Looks

NAME, NAMESPACE = "landbridge-burst", "default"
SELECTOR = f"batch.kubernetes.io/job-name={NAME}"
PAUSE_SECONDS = 2.0
IDLE = FLAGS["scale-down-unneeded-time"].value
HISTORY = "`landbridge autoscaler history --local` says what was decided"
Tell = Callable[[float, Looks], None]


@dataclass
class Burst:
    """One burst. `shares` are GPUs by pool if all goes well, `bought` machines by pool, by the cloud's own ledger.

    `short` are machines by pool of which its region has no more, those that were there before included.
    `row` are all looks at it with their seconds; `ended` is when its Job was, and `back` when the last machine went.
    """

    session: Session
    gpus: int
    mine: Mapping[str, Pool]
    each: int
    shares: Mapping[str, int]
    before: Mapping[str, int]
    known: Mapping[str, frozenset[str]]
    short: Mapping[str, int] = field(default_factory=dict)
    row: list[tuple[float, Looks]] = field(default_factory=list)
    full: float | None = None
    ended: float | None = None
    back: float | None = None
    bought: Mapping[str, int] = field(default_factory=dict)
    begun: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    @property
    def machines(self) -> int:
        """How many it takes beside those that are there."""
        return sum(self.shares[name] // burst_state.gpus(self.session.world.fleet, pool) for name, pool in self.clouds)

    @property
    def clouds(self) -> list[tuple[str, Pool]]:
        return [(name, pool) for name, pool in self.mine.items() if pool.region]

    def at_work(self) -> int:
        return sum(one.gpus for one in self.row[-1][1].values()) if self.row else 0

    def look(self) -> Looks:
        found = burst_state.look(self.session, self.mine, SELECTOR)
        self.row.append((self.seconds, found))
        return found

    def fill(self, tell: Tell, patience: float) -> None:
        """Until all of its GPUs are at work. Raises LandbridgeError."""
        self.full = self.until(lambda _: self.at_work() == self.gpus, self.unfilled, tell, patience)

    def give_back(self, tell: Tell, patience: float) -> None:
        """After the Job, until the autoscaler has ended what it bought. Raises LandbridgeError."""
        self.ended = self.seconds
        self.back = self.until(lambda found: not self.left(found), self.not_back, tell, patience)

    def until(
        self, done: Callable[[Looks], bool], late: Callable[[float, Looks], str], tell: Tell, patience: float
    ) -> float:
        """When it was. An API that does not answer just then is asked again. Raises LandbridgeError."""
        deadline = self.seconds + patience
        while True:
            try:
                found = self.look()
            except LandbridgeError:
                if self.seconds > deadline:
                    raise
            else:
                tell(self.seconds, found)
                if done(found):
                    return self.seconds
                if self.seconds > deadline:
                    raise LandbridgeError(late(patience, found))
            time.sleep(PAUSE_SECONDS)

    def left(self, found: Looks) -> dict[str, int]:
        """Machines of the burst that are still there, by pool."""
        here = {name: found[name].machines - self.before[name] for name, _ in self.clouds}
        return {name: number for name, number in here.items() if number > 0}

    def unfilled(self, patience: float, found: Looks) -> str:
        lines = [f"After {patience:.0f} s {self.at_work()} of {self.gpus} GPUs are at work; the Job is ended."]
        for name, one in found.items():
            lines.append(f"  {name}: {one.asked} machines asked for, {one.ready} Ready, {one.gpus} GPUs at work")
            lines += [f"  {name} launches none: {one.failure}"] if one.failure else []
        lines.append(f"{HISTORY}, `landbridge pool list --local` what ails pools.")
        return "\n".join(lines)

    def not_back(self, patience: float, found: Looks) -> str:
        text = ", ".join(f"{name} {number}" for name, number in self.left(found).items())
        return (
            f"{patience:.0f} s after the Job has ended there are still machines of the burst: {text}. "
            f"Idle ones go on ending. {HISTORY}."
        )

    def count(self) -> None:
        """By the cloud's own ledger, and by what was seen: Azure forgets machines that have ended."""
        now = burst_state.launched(self.session, self.mine)
        launched = {name: frozenset[str]().union(*(found[name].names for _, found in self.row)) for name in now}
        self.bought = {name: len((ids | launched[name]) - self.known[name]) for name, ids in now.items()}

    def as_json(self) -> dict[str, Any]:
        found = {name: burst_state.moments(self.row, name)._asdict() for name in self.mine}
        most = {name: max((one[name].gpus for _, one in self.row), default=0) for name in self.mine}
        return {
            "cluster": self.session.info.name,
            "gpus": self.gpus,
            "all_at_work_seconds": self.full,
            "job_ended_seconds": self.ended,
            "given_back_seconds": self.back,
            "machines_launched": sum(self.bought.values()),
            "hardware": dict(self.short),
            "pools": [
                {"pool": name, "gpus": most[name], "machines_launched": self.bought.get(name, 0), **found[name]}
                for name in self.mine
            ],
        }


def manifest(made: Burst) -> dict[str, Any]:
    pod = {
        "restartPolicy": "Never",
        "containers": [
            {
                "name": "train",
                "image": "registry.example.com/train:1",
                "resources": {"limits": {GPU_RESOURCE: str(made.each)}},
            }
        ],
    }
    template = {"metadata": {"annotations": {"local.landbridge.dev/runs-for": "24h"}}, "spec": pod}
    pods = made.gpus // made.each
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {"parallelism": pods, "completions": pods, "template": template},
    }


@contextmanager
def submitted(made: Burst) -> Iterator[None]:
    """The Job is there, and gone whatever happens. One that an earlier burst left goes first. Raises KubeError."""
    end(made.session)
    made.begun = time.monotonic()
    made.session.admin.apply([manifest(made)])
    try:
        yield
    finally:
        end(made.session)


def end(session: Session) -> None:
    """Returns when none of its pods holds anything any more."""
    session.admin.done(
        "delete", "job", NAME, f"--namespace={NAMESPACE}", "--ignore-not-found", "--cascade=foreground", seconds=180
    )
