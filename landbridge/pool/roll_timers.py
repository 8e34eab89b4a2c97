"""For how long a roll has seen successors as not at work, and scaling groups as owing machines. Pure."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from . import roll_plan
from .roll_plan import State
from .sizes import Group


class Waits(NamedTuple):
    """`since` has moments in seconds, by machine or group; `live` the machines of each group by then."""

    since: Mapping[str, float] = {}
    live: Mapping[str, frozenset[str]] = {}

    def then(self, states: Collection[State], groups: Sequence[Group], moment: float) -> "Waits":
        """A group owes some all along where many are away at a time: each machine that comes begins its time anew."""
        lacking = {state.name for state in states if not state.behind and state.lacks}
        lacking |= {group.name for group in groups if roll_plan.owed([group])}
        live = {group.name: frozenset(one.name for one in group.live) for group in groups}
        anew = {name for name, there in live.items() if there - self.live.get(name, frozenset())}
        return Waits({name: moment if name in anew else self.since.get(name, moment) for name in lacking}, live)

    def ages(self, moment: float) -> dict[str, float]:
        """In seconds."""
        return {name: moment - since for name, since in self.since.items()}
