"""How many machines each scaling group of a pool is to have, and which machines may go. Numbers alone, no cloud."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

# Of a machine on its way out, which counts no more.
LEAVING = ("Terminat", "Detach")


class Machine(NamedTuple):
    """`state` is that of its life in the scaling group, in AWS's words; `zone` is the cloud's name. `template` is the
    version of the launch template that it came of; empty if the cloud does not say.
    """

    name: str
    zone: str
    state: str
    template: str = ""

    @property
    def live(self) -> bool:
        return not self.state.startswith(LEAVING)


class Group(NamedTuple):
    """One scaling group as it stands. `failure` is why its last launch failed; empty if it did not just now.

    `failed` is the cloud's id of the last launch that ever failed.
    """

    name: str
    least: int
    most: int
    desired: int
    machines: tuple[Machine, ...] = ()
    failure: str = ""
    failed: str = ""

    @property
    def live(self) -> tuple[Machine, ...]:
        return tuple(machine for machine in self.machines if machine.live)

    @property
    def floor(self) -> int:
        """What its desired capacity can't be below while no machine goes."""
        return max(self.least, len(self.live))


class Aim(NamedTuple):
    """`desired` by group, which ends no machine; beyond that, `leave` machines have to go."""

    desired: dict[str, int]
    leave: int


def aim(groups: Sequence[Group], number: int) -> Aim:
    """The way to a pool of `number` machines.

    What was asked of a group and is on its way stays asked. What a group just failed to launch is asked of the others,
    as long as there is one. Raises ValueError above what all groups together take.
    """
    desired = {group.name: group.floor for group in groups}
    for _ in range(number - sum(desired.values())):
        room = [group for group in groups if desired[group.name] < group.most]
        if not room:
            raise ValueError(f"the scaling groups take {sum(group.most for group in groups)} machines")
        best = min(
            room,
            key=lambda group: (
                bool(group.failure),
                desired[group.name] >= group.desired,
                desired[group.name],
                groups.index(group),
            ),
        )
        desired[best.name] += 1
    return Aim(desired, max(0, sum(desired.values()) - number))


def leaving(
    groups: Sequence[Group], launched: Mapping[str, datetime], barred: Collection[str], number: int
) -> list[Machine]:
    """At most `number` machines, newest first, that are not barred and whose group keeps its least."""
    room = {group.name: len(group.live) - group.least for group in groups}
    found: list[Machine] = []
    candidates = [(launched[one.name], one, group.name) for group in groups for one in group.live]
    for _, machine, group in sorted(candidates, key=lambda one: (one[0], one[1].name), reverse=True):
        if len(found) < number and machine.name not in barred and room[group] > 0:
            room[group] -= 1
            found.append(machine)
    return found
