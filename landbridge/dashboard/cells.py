"""What becomes of each GPU, as the map has a cell for it. Pure.

No metric of every machine says which of a host's GPUs is whose. Where pods hold some of them, the busiest are taken for
theirs.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from .snapshot import Node, Pod, Snapshot

State = Literal["work", "idle", "held", "free", "shut", "unseen", "broken"]
# State → what it is called.
WORDS: Mapping[State, str] = {
    "work": "at work",
    "idle": "held, idle",
    "held": "held",
    "free": "free",
    "shut": "free, but closed",
    "unseen": "free, or another team's",
    "broken": "not usable",
}
HOLDS: tuple[State, ...] = ("work", "idle", "held")
# As the alarm GPUsHeldIdle has it.
IDLE = 0.05


class Cell(NamedTuple):
    """`active` is None where nothing measures."""

    number: int
    state: State
    active: float | None


class Machine(NamedTuple):
    """A node with GPUs, and who holds some of them."""

    node: Node
    pods: Sequence[Pod]
    cells: Sequence[Cell]


def machines(seen: Snapshot) -> list[Machine]:
    held = by_node(seen.pods)
    return [
        Machine(node, mine, cells(node, sum(pod.gpus for pod in mine), seen.activity.get(node.name, {}), seen.whole))
        for node in seen.nodes
        if node.gpus
        for mine in [held.get(node.name, [])]
    ]


def by_node(pods: Iterable[Pod]) -> dict[str, list[Pod]]:
    found = defaultdict[str, list[Pod]](list)
    for pod in pods:
        found[pod.node].append(pod)
    return found


def cells(node: Node, held: int, active: Mapping[str, float], whole: bool) -> list[Cell]:  # noqa: FBT001
    numbers = range(node.gpus)
    shares = [active.get(str(number)) for number in numbers]
    # One that nobody can have tells nothing of itself.
    silent_first = sorted(numbers, key=lambda number: (shares[number] is not None, -number))
    lost = {*(numbers if node.broken else silent_first[: node.gpus - node.usable])}
    busiest = sorted((one for one in numbers if one not in lost), key=lambda number: (-(shares[number] or 0.0), number))
    theirs = {*busiest[:held]}
    rest: State = "unseen" if not whole else "shut" if node.closed else "free"
    states = dict.fromkeys(numbers, rest)
    states |= {number: _held(shares[number]) for number in theirs}
    states |= dict.fromkeys(lost, "broken")
    return [Cell(number, states[number], shares[number]) for number in numbers]


def _held(active: float | None) -> State:
    if active is None:
        return "held"
    return "idle" if active < IDLE else "work"


def counted(found: Iterable[Machine]) -> Counter[State]:
    return Counter(cell.state for machine in found for cell in machine.cells)


def mean(found: Iterable[Cell]) -> float | None:
    """Of what is measured of those that are held."""
    shares = [cell.active for cell in found if cell.state in HOLDS and cell.active is not None]
    return sum(shares) / len(shares) if shares else None
