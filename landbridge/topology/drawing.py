"""The picture as SVG: regions above, sites below, tunnels and peerings between. Pure; lengths are in pixels."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from components.links.plan import Crossing, Peering, Tunnel
from landbridge.sheet import Sheet

from .cards import Box, draw, high
from .curve import Curve
from .labels import Card

LEGEND, APART, MARK = 56.0, 6.0, 8.0
TUNNEL = {"stroke": "#d9822b", "stroke-width": "2", "fill": "none"}
PEERING = {"stroke": "#3b7f96", "stroke-width": "2", "fill": "none", "stroke-dasharray": "7 5"}
# What is seen of a link → its look, in which colour is not all. Blue and brown are two to whoever sees no red or green.
UP, PART, DOWN, UNKNOWN = "up", "up in part", "down", "not known"
LIVE = {
    UP: {"stroke": "#1f78b4", "stroke-width": "3", "fill": "none"},
    PART: {"stroke": "#b5650d", "stroke-width": "3", "fill": "none", "stroke-dasharray": "10 4"},
    DOWN: {"stroke": "#8c2d04", "stroke-width": "2", "fill": "none", "stroke-dasharray": "3 4"},
    UNKNOWN: {"stroke": "#6b7a89", "stroke-width": "2", "fill": "none", "stroke-dasharray": "1 4"},
}
# What stands on such a link, from a point on: a cross, an exclamation mark. One that is as it should be has none.
SIGNS = {DOWN: "m-3 -3 l6 6 m0 -6 l-6 6", PART: "m0 -4.5 v5 m0 2.5 v1.5"}
SIGN = {"stroke": "#ffffff", "stroke-width": "1.8", "fill": "none"}
# Words → look, and from one to the next: as planned, and as seen.
LEGENDS = (
    ({"tunnels of a site or of two clouds": TUNNEL, "peering of two regions": PEERING}, 290.0),
    ({"link that is up": LIVE[UP], "up in part": LIVE[PART], "down": LIVE[DOWN], "not known": LIVE[UNKNOWN]}, 160.0),
)
# Where on its way: one of a site near the region, whose links have places of their own there.
NEAR, MIDDLE = 0.9, 0.5


class Frame(NamedTuple):
    """`width` is a card's, `gap` is between two of a row, `between` between the rows. Without a title `title` is 0."""

    width: float = 300.0
    gap: float = 40.0
    margin: float = 40.0
    between: float = 170.0
    title: float = 70.0


class Strand(NamedTuple):
    """A line of a link: its name, and its look and title where nobody asked how it is."""

    name: str
    usual: dict[str, str]
    title: str
    curve: Curve


Boxes = Mapping[str, Box]
# Of one link, and where on its way its sign stands.
Link = tuple[Sequence[Strand], float]
SHEET = Frame()


def svg(
    fleet: str,
    note: str,
    regions: Sequence[Card],
    sites: Sequence[Card],
    tunnels: Sequence[Tunnel],
    peerings: Sequence[Peering],
    crossings: Sequence[Crossing] = (),
    live: Mapping[str, str] | None = None,
    frame: Frame = SHEET,
) -> str:
    """Links lie below what they join, so that no line crosses words. `live` has their states by their names."""
    margin, between = frame.margin, frame.between
    looks, step = LEGENDS[live is not None]
    most = max(len(regions), len(sites))
    across = max(most * (frame.width + frame.gap) - frame.gap, len(looks) * step) + 2 * margin
    above = _row(regions, margin + frame.title, across, frame, bottom=True)
    tallest = max(box.bottom for box in above.values())
    below = _row(sites, tallest + between, across, frame)
    height = max([tallest + between / 2, *(box.bottom for box in below.values())]) + LEGEND + margin
    sheet = Sheet(across, height, f"Topology of the fleet {fleet}")
    if frame.title:
        sheet.text(margin, margin + 22, fleet, "title")
        sheet.text(margin, margin + 44, note, "note")
    links = [*_of_regions(above, peerings, crossings, frame), *_of_sites(above, below, tunnels)]
    _lines(sheet, links, live)
    for card, box in zip((*regions, *sites), (*above.values(), *below.values()), strict=True):
        draw(sheet, card, box)
    _legend(sheet, margin, height - margin, live)
    return sheet.written()


def _row(cards: Sequence[Card], top: float, across: float, frame: Frame, *, bottom: bool = False) -> dict[str, Box]:
    """Side by side in the middle; those of a row that end together have their links side by side, too."""
    step = frame.width + frame.gap
    left = (across - len(cards) * step + frame.gap) / 2
    tallest = max((high(card) for card in cards), default=0.0)
    return {
        card.name: Box(left + number * step, top, frame.width, tallest if bottom else high(card))
        for number, card in enumerate(cards)
    }


def _of_regions(
    boxes: Boxes, peerings: Sequence[Peering], crossings: Sequence[Crossing], frame: Frame
) -> Iterator[Link]:
    """Peerings; and inside of where they would be, a line for each tunnel of two clouds."""
    for peering in peerings:
        title = f"{peering.here} and {peering.there}: peering"
        yield [Strand(peering.name, PEERING, title, _arc(boxes, peering.here, peering.there, frame))], MIDDLE
    for aws, azure in dict.fromkeys((one.aws, one.azure) for one in crossings):
        mine = [one for one in crossings if (one.aws, one.azure) == (aws, azure)]
        title = f"{aws} and {azure}: {len(mine)} tunnels"
        arcs = (_arc(boxes, aws, azure, frame, -APART * one.number) for one in mine)
        yield [Strand(one.name, TUNNEL, title, arc) for one, arc in zip(mine, arcs, strict=True)], MIDDLE


def _arc(boxes: Boxes, here: str, there: str, frame: Frame, shift: float = 0.0) -> Curve:
    """Below the regions, each arc around those of nearer ones: it is deeper, and ends farther from the corner."""
    one, other = sorted((boxes[here], boxes[there]))
    apart, most = round((other.left - one.left) / (frame.width + frame.gap)), max(len(boxes) - 1, 1)
    deep = one.bottom + 34 + min(26.0, (frame.between - 64) / most) * apart + shift
    inward = one.width * (0.1 + min(0.1, 0.4 / most) * (apart - 1)) + shift
    return Curve((one.left + one.width - inward, one.bottom), (other.left + inward, other.bottom), deep)


def _of_sites(above: Boxes, below: Boxes, tunnels: Sequence[Tunnel]) -> Iterator[Link]:
    """A line a tunnel, from a site's edge up to a region's."""
    for number, (region, upper) in enumerate(above.items()):
        for order, (site, lower) in enumerate(below.items()):
            mine = [one for one in tunnels if (one.site, one.region) == (site, region)]
            start, end = lower.edge(number, len(above)), upper.edge(order, len(below))
            title, half = f"{site} and {region}: {len(mine)} tunnels", (lower.top + upper.bottom) / 2
            asides = ((place - (len(mine) - 1) / 2) * APART for place in range(len(mine)))
            curves = [Curve((start + each, lower.top), (end + each, upper.bottom), half) for each in asides]
            yield [Strand(one.name, TUNNEL, title, curve) for one, curve in zip(mine, curves, strict=True)], NEAR


def _lines(sheet: Sheet, links: Sequence[Link], live: Mapping[str, str] | None) -> None:
    """What is wrong lies above what is not, and signs above all lines."""
    strands = [strand for link in links for strand in link[0]]
    if live is None:
        for one in strands:
            sheet.path(one.curve.path, one.usual, one.title)
        return
    for state in (UNKNOWN, UP, PART, DOWN):
        for one in strands:
            if live.get(one.name, UNKNOWN) == state:
                whose = one.title if one.usual is PEERING else one.name
                sheet.path(one.curve.path, LIVE[state], f"{whose}, {state}")
    for mine, way in links:
        _sign(sheet, mine, way, [live.get(one.name, UNKNOWN) for one in mine])


def _sign(sheet: Sheet, strands: Sequence[Strand], way: float, states: Sequence[str]) -> None:
    """On a link that is down as a whole, or of which a part is."""
    wrong = [state for state in states if state in SIGNS]
    if not wrong:
        return
    state = DOWN if wrong.count(DOWN) == len(states) else PART
    points = [one.curve.at(way) for one in strands]
    left, top = (sum(each) / len(points) for each in zip(*points, strict=True))
    colour = LIVE[state]["stroke"]
    sheet.rect(left - MARK, top - MARK, 2 * MARK, 2 * MARK, (colour, "#ffffff"), MARK)
    sheet.path(f"M{left:g} {top:g} {SIGNS[state]}", SIGN, state)


def _legend(sheet: Sheet, left: float, base: float, live: Mapping[str, str] | None) -> None:
    looks, step = LEGENDS[live is not None]
    for words, look in looks.items():
        sheet.path(f"M{left:g} {base - 4:g} h36", look, words)
        sheet.text(left + 46, base, words, "note")
        left += step
