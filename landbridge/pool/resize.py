"""One run of `landbridge pool size`: what is to be done, and whether it was."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from landbridge.cluster.session import Session
from landbridge.cluster.waiting import Tell
from landbridge.errors import LandbridgeError

from . import groups as scaling
from . import grow, sizes
from .listing import named
from .shrink import Shrink
from .sizes import Group, Machine

Ask = Callable[[str], None]


@dataclass
class Outcome:
    """`number` was asked for; `machines` is how many live in the end. `busy` are machines that stay, with their work.

    `ready` is None where nobody waited.
    """

    cluster: str
    pool: str
    number: int
    before: int
    machines: int = 0
    desired: dict[str, int] = field(default_factory=dict)
    ready: int | None = None
    removed: list[str] = field(default_factory=list)
    busy: dict[str, list[str]] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        return sum(self.desired.values()) == self.number

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "done": self.done}


@dataclass
class Resize:
    """`ask` raises unless the user agrees that machines go."""

    session: Session
    pool: str
    tell: Tell
    ask: Ask

    def run(self, number: int, *, wait: bool, seconds: float | None) -> Outcome:
        """Raises LandbridgeError, also for machines that did not come in time, and what `ask` raises."""
        groups = scaling.of_pool(self.session, self.pool)
        aim = self.aim(groups, number)
        outcome = Outcome(self.session.info.name, self.pool, number, sum(len(group.live) for group in groups))
        shrink = Shrink(self.session, self.pool, self.tell)
        if aim.leave:
            picked = shrink.candidates(groups, aim.leave)
            if picked:
                self.ask(question(self.pool, picked, aim.leave))
        grow.ask(self.session, self.pool, groups, aim.desired, self.tell)
        if aim.leave and picked:
            shrink.run(aim.leave)
        outcome.removed, outcome.busy = shrink.removed, shrink.busy
        after = scaling.of_pool(self.session, self.pool)
        outcome.desired = {group.name: group.desired for group in after}
        if not aim.leave and wait:
            outcome.ready = grow.wait(self.session, self.pool, number, self.tell, seconds)
            after = scaling.of_pool(self.session, self.pool)
        outcome.machines = sum(len(group.live) for group in after)
        return outcome

    def aim(self, groups: Sequence[Group], number: int) -> sizes.Aim:
        try:
            return sizes.aim(groups, number)
        except ValueError as error:
            raise LandbridgeError(
                f"{self.pool} can't have {number} machines: {error}. Its max in the fleet file is newer than what "
                f"stands in the cloud: run `landbridge up {self.pool}` first."
            ) from None


def question(pool: str, picked: Sequence[Machine], number: int) -> str:
    """What the user is asked before machines go."""
    idle = "" if len(picked) == number else f", for no more than {len(picked)} of the {number} are idle"
    names = named([f"{one.name} ({one.zone})" for one in picked])
    return f"{len(picked)} machines of {pool} go{idle}: {names}. Go on?"
