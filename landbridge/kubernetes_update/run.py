"""Brings a cluster to another version of Kubernetes, step by step: each is looked for anew in what is, then done."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from landbridge.cluster import freeze
from landbridge.cluster.machines import Machines, State
from landbridge.cluster.roll import Roll as MachinesRoll
from landbridge.cluster.session import Session
from landbridge.cluster.waiting import Tell
from landbridge.errors import LandbridgeError
from landbridge.pool.roll import How as PoolHow
from landbridge.pool.roll import Roll as PoolRoll

from . import fleet_line, observed
from .steps import Step, steps

# Each stands on the one before it. Pools stand beside each other.
IN_ORDER = ("file", "publish", "machines", "follow")
PAUSE_SECONDS = 60.0


class UpdateError(LandbridgeError):
    """The update stopped; what was done by then stays."""


@dataclass(frozen=True)
class How:
    """`any_time`: windows and frozen days are not asked. `wait`: for windows, and for work on machines to end.

    Work on pools' machines has `deadline` from when its machine was first to go, and `fraction` of a pool may be away.
    """

    wait: bool = False
    any_time: bool = False
    fraction: float = 0.1
    deadline: timedelta = timedelta(hours=24)


class Update:
    """`again` gives the cluster by the fleet file as it is then; `up` brings stacks to it, or raises."""

    def __init__(
        self, again: Callable[[], Session], target: str, how: How, tell: Tell, up: Callable[[Sequence[str]], None]
    ) -> None:
        self.again, self.target, self.how, self.tell, self.up = again, target, how, tell, up
        self.tried = set[tuple[str, str]]()

    def look(self) -> tuple[Session, Mapping[str, State], list[Step]]:
        """The cluster, its control plane's machines, and the steps as they are now. Raises LandbridgeError."""
        session = self.again()
        machines = Machines(session).look()
        found = steps(observed.for_steps(session, self.target, machines))
        if self.how.any_time:
            found = [one._replace(state="to do", opens=None) if one.state == "waits" else one for one in found]
        return session, machines, found

    def run(self) -> list[Step]:
        """The steps as they are at the end. Raises LandbridgeError at the first that fails."""
        while True:
            session, _, found = self.look()
            step = self.next(found)
            if step is None:
                return found
            if step.state == "waits":
                self.sleep(step)
                continue
            self.tried.add((step.kind, step.name))
            freeze.refuse(session.admin, "The update stops")
            self.tell(step.words)
            self.do(session, step)

    def next(self, found: Sequence[Step]) -> Step | None:
        """What is to be done now, or to be waited for; None if there is nothing more of either. Raises UpdateError."""
        for step in found:
            if step.state == "done" or step.state == "people":
                continue
            if (step.kind, step.name) in self.tried:
                if step.kind in IN_ORDER:
                    raise UpdateError(f"The update stops: that was done, and is not so: {step.words}. Run it again.")
                continue
            if step.state == "to do" or self.how.wait:
                return step
            if step.kind in IN_ORDER:
                return None
        return None

    def sleep(self, step: Step) -> None:
        assert step.opens is not None
        self.tell(f"waits until {step.opens:%Y-%m-%d %H:%M %Z}: {step.words}")
        while (left := (step.opens - datetime.now(UTC)).total_seconds()) > 0:
            time.sleep(min(left, PAUSE_SECONDS))

    def do(self, session: Session, step: Step) -> None:
        if step.kind == "file":
            where = fleet_line.write(session.world.path, session.info.name, self.target)
            self.tell(f"{where} says so now; it is for you to commit")
        elif step.kind == "publish":
            self.up([step.name])
        elif step.kind == "machines":
            MachinesRoll(session, self.tell).run([], force=False)
        elif step.kind == "follow":
            self.up([*observed.followers(session)])
        else:
            how = PoolHow(self.how.fraction, self.how.deadline, None, self.how.wait)
            PoolRoll(session, step.name, how, self.tell, lambda _: None).run()


def left(found: Sequence[Step]) -> list[Step]:
    return [one for one in found if one.state != "done"]
