"""What a roll of a pool does next: who is replaced, who is drained, who waits, and what stops it. Pure.

It is decided from what is, each time anew, so that an interrupted roll goes on.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from fleet import sight

from .sizes import Group

SERVES = "InService"


class State(NamedTuple):
    """One machine. `behind` is what of it is not the newest; a machine with nothing is a successor.

    `work` are pods that it waits for, `movable` those that may be evicted at any time. `until` is the owner's deadline,
    `draining` whether pods are on their way out, `claimed` whether the autoscaler is about to end it.
    """

    name: str
    group: str
    launched: datetime
    life: str = SERVES
    image: str = ""
    behind: tuple[str, ...] = ()
    joined: bool = True
    ready: bool = True
    failed: bool = False
    starting: bool = False
    work: tuple[str, ...] = ()
    movable: tuple[str, ...] = ()
    until: datetime | None = None
    draining: bool = False
    claimed: bool = False

    @property
    def lacks(self) -> str:
        """Why it is not at work; empty if it is."""
        reasons = (
            (self.life != SERVES, self.life),
            (not self.joined, "has not joined"),
            (not self.ready, "is not Ready"),
            (self.failed, "is gpu-failed"),
            (self.starting, "waits for its GPUs"),
        )
        return next((why for wrong, why in reasons if wrong), "")


class Step(NamedTuple):
    """`end` are replaced now; `evict` drained, as far as budgets let them, at most `room` of them; `wait` are busy, or
    have no turn yet. `coming` is why each successor is not at work, `owed` how many the cloud has yet to launch.
    """

    end: tuple[str, ...]
    evict: tuple[str, ...]
    room: int
    wait: tuple[str, ...]
    coming: Mapping[str, str]
    owed: int

    @property
    def over(self) -> bool:
        return not (self.end or self.evict or self.wait or self.coming or self.owed)

    @property
    def idle(self) -> bool:
        """Whether nothing is to be done but to wait for work to end."""
        return not (self.end or self.evict or self.coming or self.owed)


def most_away(machines: int, fraction: float) -> int:
    """So many may be away at a time: at least one."""
    return max(1, math.floor(machines * fraction + 1e-9))


def owed(groups: Sequence[Group]) -> int:
    return sum(max(0, group.desired - len(group.live)) for group in groups)


def step(states: Collection[State], missing: int, most: int, now: datetime) -> Step:
    """`missing` machines are owed by the cloud, and at most `most` may be away, those that come included.

    What ails goes first, then the oldest. Machines whose draining has begun are away already.
    """
    old = sorted((state for state in states if state.behind), key=_first)
    coming = {state.name: state.lacks for state in states if not state.behind and state.lacks}
    able = [state for state in old if state.life == SERVES and not state.claimed]
    idle = [state for state in able if not state.work and not state.movable]
    # Of a silent node nobody hears that a pod has ended: its work is left alone.
    due = [state for state in able if state not in idle and state.ready and _due(state, now)]
    begun = [state for state in due if state.draining]
    others = sorted((state for state in due if not state.draining), key=lambda state: bool(state.work))
    # Not those that people have taken out of service: they come back when people want it.
    starting = sum(1 for state in old if state.life.startswith("Pending"))
    room = max(0, most - missing - len(coming) - starting)
    begun = begun[:room]
    end = idle[: room - len(begun)]
    left = room - len(begun) - len(end)
    evict = [*begun, *(others if left else [])]
    wait = tuple(state.name for state in old if state not in end and state not in evict)
    return Step(_names(end), _names(evict), len(begun) + left, wait, coming, missing)


def _names(states: Sequence[State]) -> tuple[str, ...]:
    return tuple(state.name for state in states)


def _first(state: State) -> tuple[bool, datetime, str]:
    return (not state.lacks, state.launched, state.name)


def _due(state: State, now: datetime) -> bool:
    """Whether it may be drained: it has nothing that it waits for, or its owner's time is over."""
    return not state.work or (state.until is not None and now >= state.until)


def refused(groups: Sequence[Group], known: Mapping[str, str]) -> list[str]:
    """Launches that failed after what is `known` by group, in words."""
    return [
        f"{group.name} launches none: {group.failure}"
        for group in groups
        if group.failure and owed([group]) and group.failed != known.get(group.name, "")
    ]


def broken(states: Collection[State], since: Mapping[str, float], patience: float) -> list[str]:
    """Successors that will not be at work, in words: those that are gpu-failed at once, others after a time in seconds;
    `since` has for how long each has been seen as not at work.
    """
    found = []
    for state in states:
        if state.behind or not state.lacks:
            continue
        if state.failed:
            found.append(f"{state.name}, which has the new image, is gpu-failed")
        elif since.get(state.name, 0.0) > patience:
            found.append(f"{state.name}, which has the new image, {state.lacks} after {patience:.0f} s")
    return found


def late(groups: Sequence[Group], since: Mapping[str, float], patience: float) -> list[str]:
    """Groups of which no owed machine came for so many seconds, in words."""
    return [
        f"{group.name} has launched {len(group.live)} of {group.desired} machines, and no more for {patience:.0f} s"
        for group in groups
        if since.get(group.name, 0.0) > patience
    ]


def outdated(states: Collection[State], known: Collection[str]) -> list[str]:
    """Machines that are not `known` from the start and are not the newest all the same, in words."""
    return [
        f"{state.name} was launched after it had begun, and has an older {' and '.join(state.behind)}"
        for state in states
        if state.behind and state.name not in known
    ]


def out_of_sight(states: Collection[State]) -> str:
    """Why no machine may go; empty if some may."""
    nodes = [state for state in states if state.joined]
    silent = [state for state in nodes if state.behind and not state.ready]
    if not sight.out_of_sight(len(silent), len(nodes)):
        return ""
    above = f"above {sight.SHARE:.0%} nobody knows what runs there"
    return f"{len(silent)} of the {len(nodes)} nodes are not Ready, and {above}"
