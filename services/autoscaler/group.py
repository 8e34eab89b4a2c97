"""One scaling group as the autoscaler is told of it: what lives, what is owed, and what was refused. Pure.

The cloud is the truth about machines; what was asked of it a moment ago is known here before it shows there. A machine
that the cloud refuses stays as a placeholder with its reason until the autoscaler has taken note by deleting it: so it
never takes refused machines for machines that are on their way, and asks the next pool.
"""

import math
from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple

from .refusals import Kind, kind

State = Literal["starting", "running", "ending"]
# Two copies of the clock: ours, and the cloud's, which dates its failures.
SKEW_SECONDS = 2.0


class Machine(NamedTuple):
    """`provider` is the ID by which its node names it; `node` is the node's own name, where that is not `id`."""

    id: str
    provider: str
    state: State
    node: str = ""


class Failure(NamedTuple):
    """A launch that failed, `at` seconds of the epoch, in the cloud's words."""

    at: float
    sentence: str


class Observation(NamedTuple):
    """What the cloud said of a group in an answer to a question asked at `at` of the monotonic clock; failures newest
    first. `spoilt` are instances that never will be machines, or are none any more, and still hold a place.
    """

    at: float
    desired: int
    machines: tuple[Machine, ...]
    failures: tuple[Failure, ...] = ()
    spoilt: tuple[str, ...] = ()


class Refused(NamedTuple):
    """A placeholder."""

    id: str
    kind: Kind
    sentence: str


class Group(NamedTuple):
    """`desired` is what we want of the cloud; with `unsent` it may want more yet, and has to hear of it.

    `requested_at` is when it was last asked for more, `judged` the time of the newest failure taken for a refusal, both
    in seconds of the epoch, as the cloud's times are. `settled` is when the last call that changes it had ended, by the
    monotonic clock; before its end that is infinite.
    `serial` numbers placeholders.
    """

    name: str
    least: int
    desired: int = 0
    unsent: bool = False
    machines: tuple[Machine, ...] = ()
    refused: tuple[Refused, ...] = ()
    requested_at: float = 0.0
    settled: float = 0.0
    judged: float = 0.0
    serial: int = 0

    @property
    def live(self) -> tuple[Machine, ...]:
        return tuple(machine for machine in self.machines if machine.state != "ending")

    @property
    def wanted(self) -> int:
        """Machines that are there or asked for."""
        return max(self.desired, len(self.live))

    @property
    def owed(self) -> int:
        """Asked for, and neither there nor refused."""
        return self.wanted - len(self.live)

    @property
    def target(self) -> int:
        """The size that the autoscaler is told."""
        return self.wanted + len(self.refused)


class NotPossibleError(Exception):
    """What was asked for can't be done; for the autoscaler's log."""


def grown(group: Group, by: int, now: float) -> Group:
    """With so many more machines asked for: how many there may be limits.py says. Raises NotPossibleError."""
    if by <= 0:
        raise NotPossibleError(f"{group.name} can't grow by {by}")
    return in_flight(group, desired=group.wanted + by, requested_at=now)


def without_owed(group: Group, by: int) -> Group:
    """With at most so many fewer that have not come yet, and never fewer than its least.

    The autoscaler counts what has not registered, and stops altogether where it is refused this.
    """
    fewer = min(by, group.desired - max(len(group.live), group.least))
    return in_flight(group, desired=group.desired - fewer, unsent=True) if fewer > 0 else group


def taken_over(group: Group, now: float) -> Group:
    """For an autoscaler that has just begun to lead: what was refused before is nobody's who waits now."""
    return group._replace(requested_at=now, judged=now, refused=(), unsent=False)


def in_flight(group: Group, **changed: Any) -> Group:
    """No answer counts before the call to the cloud has ended: one from in between may know of it, or may not."""
    return group._replace(settled=math.inf, **changed)


def settled(group: Group, now: float, **changed: Any) -> Group:
    """After the call to the cloud."""
    return group._replace(settled=now, **changed)


def staying(group: Group, before: Group, ids: Collection[str]) -> Group:
    """With those living again that did not go after all; `before` is the group from before they were told to."""
    were = {machine.id: machine for machine in before.machines if machine.id in ids}
    machines = tuple(were.get(one.id, one) for one in group.machines)
    return group._replace(machines=machines, desired=group.desired + len(were))


def cleared(group: Group, ids: Collection[str]) -> Group:
    """Without the placeholders of these ids."""
    return group._replace(refused=tuple(one for one in group.refused if one.id not in ids))


def ended(group: Group, ids: Collection[str]) -> Group:
    """With those machines on their way out, and that many fewer wanted. Raises NotPossibleError below the least."""
    going = [machine.id for machine in group.live if machine.id in ids]
    desired = group.wanted - len(going)
    if desired < group.least:
        raise NotPossibleError(
            f"{group.name} can't lose {len(going)}: it would have {desired}, and has {group.least} at least"
        )
    machines = tuple(one._replace(state="ending") if one.id in going else one for one in group.machines)
    return in_flight(group, machines=machines, desired=desired)


def observed(group: Group, observation: Observation) -> Group:
    """After an answer of the cloud's. What was asked for after the question is kept: the answer can't know of it.

    Where launches failed since the last time the group was asked, all that is owed counts as refused: `desired` is then
    what lives, and the cloud has to be told so, or it would go on trying and buy what another pool has bought by then.
    """
    if observation.at <= group.settled:
        # Machines that have come are there all the same; ones that were told to end do not live again.
        ending = {machine.id for machine in group.machines if machine.state == "ending"}
        machines = tuple(one._replace(state="ending") if one.id in ending else one for one in observation.machines)
        return _without_filled(group, group._replace(machines=machines))
    after = group._replace(machines=observation.machines)
    # What it wants beyond ours it has not heard yet that we do not.
    ahead = group.unsent and observation.desired > after.wanted
    after = _without_filled(group, after._replace(desired=after.wanted if ahead else observation.desired, unsent=ahead))
    failed = [
        one for one in observation.failures if one.at >= group.requested_at - SKEW_SECONDS and one.at > group.judged
    ]
    return _with_refused(after, failed) if failed and after.owed else after


def _without_filled(before: Group, after: Group) -> Group:
    """A machine that came although it was refused fills a placeholder's place."""
    known = {machine.id for machine in before.machines}
    late = sum(1 for machine in after.live if machine.id not in known)
    surplus = min(late, max(0, len(after.live) - after.desired))
    return after._replace(refused=after.refused[surplus:])


def _with_refused(group: Group, failed: Sequence[Failure]) -> Group:
    # The cloud takes no size below the least, and goes on trying for that many by itself.
    sentence, desired = failed[0].sentence, max(len(group.live), group.least)
    numbers = range(group.serial, group.serial + group.desired - desired)
    # With the time, since another replica counts from 0: the autoscaler takes note of no id that it has seen.
    made = [Refused(f"refused-{group.name}-{int(group.requested_at)}-{n}", kind(sentence), sentence) for n in numbers]
    return group._replace(
        refused=(*group.refused, *made),
        serial=group.serial + len(made),
        desired=desired,
        unsent=group.unsent or bool(made),
        judged=max(one.at for one in failed),
    )
