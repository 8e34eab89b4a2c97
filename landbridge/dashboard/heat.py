"""The map: one cell a GPU, a block a machine. Each state has a mark besides its colour. Pure; lengths are in pixels."""

from collections.abc import Iterable, Mapping, Sequence

from .cells import WORDS, Cell, Machine, State, counted
from .markup import NOTHING, Markup, address, tag, together
from .style import SCALE

SIZE, GAP, EDGE = 14, 2, 3
STEP = SIZE + GAP
# GPUs of a machine → beside each other.
COLUMNS = {1: 1, 2: 2, 3: 3}
USUAL, WIDE = 4, 8
# Where so many have names below them, they still are found.
MOST_NAMED = 64
MOST_TOLD = 2
# Of a cell at 0, 0. What works has no mark, as most should.
MARKS: Mapping[State, Markup] = {
    "idle": tag("path", d=f"M4 {SIZE / 2:g}h6", class_="dash"),
    "held": tag("circle", cx=SIZE // 2, cy=SIZE // 2, r=2, class_="dot"),
    "broken": tag("path", d="M3 3l8 8M11 3l-8 8", class_="cross"),
}
_LINE = tag("path", d="M0 0v5", class_="hatch")
HATCH = tag(
    "svg",
    tag(
        "defs",
        tag(
            "pattern",
            tag("rect", width=5, height=5, fill="#fff"),
            _LINE,
            id="hatch",
            width=5,
            height=5,
            patternUnits="userSpaceOnUse",
            patternTransform="rotate(45)",
        ),
    ),
    width=0,
    height=0,
    class_="hidden",
)


def heat_map(found: Sequence[Machine], *, linked: bool, named: bool) -> Markup:
    return tag("div", together(block(one, linked=linked, named=named) for one in found), class_="map")


def block(machine: Machine, *, linked: bool, named: bool) -> Markup:
    name = machine.node.name
    drawn = together([_drawn(machine), tag("small", name) if named else NOTHING])
    return tag("a", drawn, href=address("nodes", name)) if linked else tag("div", drawn)


def _drawn(machine: Machine) -> Markup:
    number = len(machine.cells)
    across = COLUMNS.get(number, USUAL if number <= 2 * USUAL else WIDE)
    width, height = across * STEP - GAP + 2 * EDGE, -(-number // across) * STEP - GAP + 2 * EDGE
    shut = tag("rect", x=1, y=1, width=width - 2, height=height - 2, rx=3, class_="shut")
    whose, about = _whose(machine), _about(machine)
    cells = (
        _cell(cell, f"{about} GPU {cell.number}: {told(cell)}{whose}", order % across, order // across)
        for order, cell in enumerate(machine.cells)
    )
    return tag("svg", shut if machine.node.closed else NOTHING, together(cells), width=width, height=height)


def _cell(cell: Cell, title: str, column: int, row: int) -> Markup:
    box = tag("rect", width=SIZE, height=SIZE, rx=2, class_=look(cell))
    move = f"translate({EDGE + column * STEP} {EDGE + row * STEP})"
    return tag("g", box, MARKS.get(cell.state, NOTHING), tag("title", title), transform=move)


def look(cell: Cell) -> str:
    """The class: of what is held and measured, a step of the scale."""
    if cell.state in ("work", "idle") and cell.active is not None:
        return f"a{round(cell.active * (len(SCALE) - 1))}"
    return cell.state


def told(cell: Cell) -> str:
    share = "" if cell.active is None or cell.state == "broken" else f", {cell.active:.0%} active"
    return f"{WORDS[cell.state]}{share}"


def _about(machine: Machine) -> str:
    node = machine.node
    ails = "; ".join(why for why in (node.broken, node.closed) if why)
    return f"{node.name} ({ails})" if ails else node.name


def _whose(machine: Machine) -> str:
    names = list(dict.fromkeys(" ".join(filter(None, (pod.team, pod.run or pod.name))) for pod in machine.pods))
    more = f" and {len(names) - MOST_TOLD} more" if len(names) > MOST_TOLD else ""
    return f" · {', '.join(names[:MOST_TOLD])}{more}" if names else ""


def sample(cell: Cell) -> Markup:
    """One cell alone, for the legend and for pages of one machine."""
    side = SIZE + 2 * EDGE
    return tag("svg", _cell(cell, told(cell), 0, 0), width=side, height=side, viewBox=f"0 0 {side} {side}")


def legend(found: Iterable[Machine]) -> Markup:
    """Of what can be on this page: with a scale where anything is measured."""
    found = [*found]
    there = counted(found)
    scale = [sample(Cell(0, "work", share)) for share in (0.1, 0.25, 0.5, 0.75, 1.0)]
    parts = [tag("span", "at work: little", *scale, "all of it")] if there["work"] or there["idle"] else []
    parts += [
        tag("span", sample(Cell(0, state, 0.0 if state == "idle" else None)), words)
        for state, words in WORDS.items()
        if state != "work" and (there[state] or state == "broken")
    ]
    if any(one.node.closed for one in found):
        shut = tag("rect", x=1, y=1, width=18, height=18, rx=3, class_="shut")
        parts.append(tag("span", tag("svg", shut, width=20, height=20), "machine takes nothing new"))
    return tag("div", together(parts), class_="legend")
