"""Why no machine may go just now, though its time has come: plans of ours wait for it, and none is lost."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from fleet import windows
from fleet.maintenance import AWAY, Plan
from fleet.model import Maintenance
from fleet.sight import out_of_sight

from .nodes import Node

NEVER = "never, as its windows and frozen days are"


class Breakers:
    """Of one look. `frozen` is why all that deletes is stopped; `states` are all plans' of each node."""

    def __init__(self, told: Maintenance, frozen: str, nodes: Mapping[str, Node], plans: Mapping[str, Plan]) -> None:
        self.told, self.frozen = told, frozen
        states = [(name, one.phase) for plan in plans.values() for name, one in plan.nodes.items()]
        self.away = {name for name, phase in states if phase in AWAY and name in nodes}
        self.sizes = Counter(one.pool for one in nodes.values())
        self.pools = {name: one.pool for name, one in nodes.items()}
        self.silent = {name for name, one in nodes.items() if not one.ready}
        self.cut = dict(_out_of_sight([one for one in nodes.values() if one.name not in self.away]))

    def holds(self, plan: Plan, node: Node, now: float) -> str:
        """Who begins is counted by `goes`."""
        if not plan.ours:
            return ""
        checks: tuple[Callable[[], str], ...] = (
            lambda: f"the cluster is frozen: {self.frozen}" if self.frozen else "",
            lambda: self._window(node, now),
            lambda: self._sight(node),
            lambda: self._share(node),
        )
        return next((why for check in checks if (why := check())), "")

    def goes(self, node: Node) -> None:
        self.away.add(node.name)

    def _window(self, node: Node, now: float) -> str:
        at = datetime.fromtimestamp(now, UTC)
        opens = windows.opens(windows.of(self.told, node.pool, node.place), self.told.frozen, at)
        if opens is not None and opens <= at:
            return ""
        return f"its next window opens {f'{opens:%Y-%m-%d %H:%M} UTC' if opens else NEVER}"

    def _sight(self, node: Node) -> str:
        """Elsewhere, too: what is drained here would be needed there."""
        first = node.place if node.place in self.cut else next(iter(sorted(self.cut)), "")
        return f"{first} is out of sight: {self.cut[first]}" if first else ""

    def _share(self, node: Node) -> str:
        most = max(1, int(self.sizes[node.pool] * self.told.share + 1e-9))
        # Who is silent is away, too, but for itself.
        gone = {name for name in self.away | self.silent if self.pools.get(name) == node.pool} - {node.name}
        if len(gone) < most:
            return ""
        return f"{len(gone)} of the {self.sizes[node.pool]} machines of {node.pool} are away, and {most} may be"


def _out_of_sight(nodes: list[Node]) -> list[tuple[str, str]]:
    """By place, why."""
    places: dict[str, list[Node]] = {}
    for one in nodes:
        places.setdefault(one.place, []).append(one)
    silent = {place: sum(1 for one in mine if not one.ready) for place, mine in places.items()}
    return [
        (place, f"{silent[place]} of its {len(mine)} nodes are not Ready")
        for place, mine in sorted(places.items())
        if out_of_sight(silent[place], len(mine))
    ]
