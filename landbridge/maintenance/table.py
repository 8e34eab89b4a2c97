"""Plans as people see them: two lines each, and of one plan a row a node."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from rich.console import Group
from rich.table import Table
from rich.text import Text

from fleet.maintenance import SOURCES, NodeState
from landbridge import tables

from .objects import Item

COLOURS = {
    "planned": "dim",
    "told": "cyan",
    "closed": "yellow",
    "draining": "magenta",
    "drained": "magenta",
    "checking": "blue",
    "done": "green",
    "cancelled": "dim",
}
MOST_TEAMS = 3
HEADINGS = ("ID", "from", "for", "state")


def plans(found: Sequence[Item], now: datetime) -> Group:
    """Two lines each: when, how far and for whom; and below what and why, as long as that is."""
    rows = [HEADINGS, *(row(one, now) for one in found)]
    wide = [max(len(cells[number]) for cells in rows) for number in range(len(HEADINGS))]
    lines = [_line(HEADINGS, wide, "dim")]
    for one, cells in zip(found, rows[1:], strict=True):
        lines += [_line(cells, wide, COLOURS.get(one.phase, "")), Text(f"  {about(one)}")]
    return Group(*lines)


def _line(cells: Sequence[str], wide: Sequence[int], style: str) -> Text:
    """The style is the state's; of the headings all."""
    whole = style if cells is HEADINGS else ""
    parts = [
        (f"{cell:{wide[number]}}", whole or {0: "bold", 3: style}.get(number, "")) for number, cell in enumerate(cells)
    ]
    return Text("  ").join(Text(*part) for part in parts)


def row(found: Item, now: datetime) -> Sequence[str]:
    plan = found.plan
    begins = f"{clock(plan.start, now)}{until(plan.start, now)}"
    return (plan.name, begins, tables.age(plan.end - plan.start), state(found))


def about(found: Item) -> str:
    plan = found.plan
    what = plan.target_name if plan.target == "node" else f"{plan.target} {plan.target_name}"
    of = work(plan.nodes.values())
    return f"{what}: {plan.why} ({SOURCES[plan.source].who}){f'; work of {of}' if of else ''}"


def state(found: Item) -> str:
    states = [one.phase for one in found.plan.nodes.values()]
    if len(states) < 2:
        return found.phase
    return f"{found.phase}, {sum(1 for one in states if one == 'done')} of {len(states)} done"


def work(states: Iterable[NodeState]) -> str:
    """Teams, of all nodes."""
    found = sorted({team for one in states for team in one.teams})
    more = f" and {len(found) - MOST_TEAMS} more" if len(found) > MOST_TEAMS else ""
    return ", ".join(found[:MOST_TEAMS]) + more


def nodes(found: Item, now: datetime) -> Table:
    table = tables.plain_table("node", "state", "since", "work", "waits for")
    for name, one in sorted(found.plan.nodes.items()):
        table.add_row(
            Text(name, style="bold"),
            Text(one.phase, style=COLOURS[one.phase]),
            clock(one.since, now),
            ", ".join(one.work),
            one.why,
        )
    return table


def clock(at: float, now: datetime) -> str:
    """By the clock of who looks; with the day where it is not today."""
    there = datetime.fromtimestamp(at, UTC).astimezone(now.tzinfo)
    return f"{there:%H:%M}" if there.date() == now.date() else f"{there:%-d %b %H:%M}"


def until(at: float, now: datetime) -> str:
    left = at - now.timestamp()
    return f", in {tables.age(left)}" if left > 0 else ""
