"""The topology as it is now: places with their machines and GPUs, and links as clouds see them. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from landbridge.sheet import NAMESPACE
from landbridge.topology import drawing
from landbridge.topology.labels import Card, Piece, Row

from .cells import HOLDS, WORDS, Cell, Machine, counted, mean
from .heat import look
from .markup import NOTHING, Markup, tag
from .page import section
from .planned import Place
from .snapshot import Link, Snapshot, dollars

# Of a card on a page, where four stand side by side on a laptop's screen.
FRAME = drawing.Frame(width=250, gap=28, margin=8, between=150, title=0)


def picture(seen: Snapshot, found: Sequence[Machine]) -> Markup:
    """None where nothing is planned."""
    planned = seen.planned
    if not planned.regions:
        return NOTHING
    regions, sites = ([_card(seen, one, found) for one in row] for row in (planned.regions, planned.sites))
    joins = planned.tunnels, planned.peerings, planned.crossings
    drawn = drawing.svg(seen.fleet, "", regions, sites, *joins, live=states(seen), frame=FRAME)
    inside = Markup(drawn.replace(f' xmlns="{NAMESPACE}"', "", 1))
    return section("Places and links", tag("div", inside, class_="topology"), note="links as their clouds see them")


def states(seen: Snapshot) -> Mapping[str, str]:
    """Of each tunnel that of its connection: which of the two are up nobody tells."""
    told = {one.connection: _state(one) for one in seen.links}
    return {name: told[connection] for name, connection in seen.planned.connections() if connection in told}


def _state(link: Link) -> str:
    if link.up >= 1:
        return drawing.UP
    return drawing.PART if link.up > 0 else drawing.DOWN


def _card(seen: Snapshot, place: Place, found: Sequence[Machine]) -> Card:
    here = [one for one in found if one.node.place == place.name]
    rows = tuple(_rows(seen, place, here))
    return Card(place.kind, place.name, place.badge, rows, bar=tuple(_bar(here)))


def _rows(seen: Snapshot, place: Place, here: Sequence[Machine]) -> Iterator[Row]:
    nodes = [one for one in seen.nodes if one.place == place.name]
    ready, there = sum(one.ready for one in nodes), counted(here)
    held = sum(there[state] for state in HOLDS)
    if place.home:
        yield Row("control plane", (seen.cluster,))
    machines = f"{ready:,} of {len(nodes):,} ready" if nodes else "none"
    yield Row("machines", (machines,), bad=ready < len(nodes))
    yield Row("GPUs", (f"{held:,} of {there.total():,} held" if there else "none",))
    for state in ("idle", "broken"):
        if there[state]:
            yield Row(WORDS[state], (f"{there[state]:,}",), bad=True)
    names = {one.name for one in nodes}
    alarms = sum(one.about.get("place") == place.name or one.about.get("node") in names for one in seen.alarms)
    if alarms:
        yield Row("alarms", (str(alarms),), bad=True)
    if (cost := dollars(seen, nodes)) is not None:
        yield Row("dollars an hour", (f"{cost:,.0f}",))


def _bar(here: Sequence[Machine]) -> Iterator[Piece]:
    """GPUs by what becomes of them; those at work in the colour of their mean."""
    there = counted(here)
    for state, words in WORDS.items():
        if there[state]:
            mine = [cell for machine in here for cell in machine.cells if cell.state == state]
            yield Piece(look(Cell(0, state, mean(mine))), there[state], words)
