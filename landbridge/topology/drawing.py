"""The picture as SVG: regions above, sites below, tunnels and peerings between. Pure; lengths are in pixels."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from components.links.plan import Crossing, Peering, Tunnel
from landbridge.sheet import Sheet

from .labels import Card, Part, Row

MARGIN, WIDTH, GAP, BETWEEN = 40.0, 300.0, 40.0, 170.0
PAD, INSET, LINE, HEAD, PART_HEAD, SPACE = 16.0, 10.0, 18.0, 34.0, 22.0, 10.0
TITLE, LEGEND, APART = 70.0, 56.0, 6.0
# Kind → fill, border; of a card also the badge's.
COLOURS = {
    "region": ("#eef5fc", "#4a86c5"),
    "site": ("#fdf4e8", "#c98a2e"),
    "cluster": ("#e4f3ec", "#3f9a6d"),
    "gpu": ("#ffffff", "#8f6bc1"),
    "cpu": ("#ffffff", "#9dbfe2"),
    "system": ("#ffffff", "#9dbfe2"),
    "ssh": ("#ffffff", "#9dbfe2"),
}
TUNNEL = {"stroke": "#d9822b", "stroke-width": "2", "fill": "none"}
PEERING = {"stroke": "#3b7f96", "stroke-width": "2", "fill": "none", "stroke-dasharray": "7 5"}
# What is seen of a link → its look, in which colour is not all.
UP, DOWN, UNKNOWN = "up", "down", "not known"
LIVE = {
    UP: {"stroke": "#2e8b57", "stroke-width": "3", "fill": "none"},
    DOWN: {"stroke": "#c0392b", "stroke-width": "2", "fill": "none", "stroke-dasharray": "3 4"},
    UNKNOWN: {"stroke": "#9aa5b1", "stroke-width": "2", "fill": "none", "stroke-dasharray": "1 4"},
}


class Box(NamedTuple):
    """Where a card lies."""

    left: float
    top: float
    height: float

    def edge(self, number: int, count: int) -> float:
        """Where the link to that one of so many ends: all have places in their own order, so that few lines cross."""
        return self.left + WIDTH * (number + 1) / (count + 1)

    @property
    def bottom(self) -> float:
        return self.top + self.height


def svg(
    fleet: str,
    note: str,
    regions: Sequence[Card],
    sites: Sequence[Card],
    tunnels: Sequence[Tunnel],
    peerings: Sequence[Peering],
    crossings: Sequence[Crossing] = (),
    live: Mapping[str, str] | None = None,
) -> str:
    """Links lie below what they join, so that no line crosses words. `live` has their states by their names."""
    across = max(len(regions), len(sites)) * (WIDTH + GAP) - GAP + 2 * MARGIN
    above = _row(regions, MARGIN + TITLE, across, bottom=True)
    tallest = max(box.bottom for box in above.values())
    below = _row(sites, tallest + BETWEEN, across)
    height = max([tallest + BETWEEN / 2, *(box.bottom for box in below.values())]) + LEGEND + MARGIN
    sheet = Sheet(across, height, f"Topology of the fleet {fleet}")
    sheet.text(MARGIN, MARGIN + 22, fleet, "title")
    sheet.text(MARGIN, MARGIN + 44, note, "note")
    for peering in peerings:
        _peer(sheet, above, peering, live)
    for crossing in crossings:
        count = sum((one.aws, one.azure) == (crossing.aws, crossing.azure) for one in crossings)
        _cross(sheet, above, crossing, count, live)
    for number, region in enumerate(above):
        for order, site in enumerate(below):
            mine = [one for one in tunnels if (one.site, one.region) == (site, region)]
            ends = below[site].edge(number, len(above)), above[region].edge(order, len(below))
            _tunnels(sheet, ends, (below[site].top, above[region].bottom), mine, live)
    for cards, boxes in ((regions, above), (sites, below)):
        for card in cards:
            _card(sheet, card, boxes[card.name])
    _legend(sheet, height - MARGIN, live)
    return sheet.written()


def _row(cards: Sequence[Card], top: float, across: float, *, bottom: bool = False) -> dict[str, Box]:
    """Side by side in the middle; those of a row that end together have their links side by side, too."""
    left = (across - len(cards) * (WIDTH + GAP) + GAP) / 2
    tallest = max((_height(card) for card in cards), default=0.0)
    boxes = {}
    for number, card in enumerate(cards):
        height = tallest if bottom else _height(card)
        boxes[card.name] = Box(left + number * (WIDTH + GAP), top, height)
    return boxes


def _lines(rows: Sequence[Row]) -> int:
    return sum(len(row.values) for row in rows)


def _part_height(part: Part) -> float:
    return PART_HEAD + _lines(part.rows) * LINE + INSET


def _height(card: Card) -> float:
    parts = sum(_part_height(part) + SPACE for part in card.parts)
    return HEAD + _lines(card.rows) * LINE + PAD + parts


def _rows(sheet: Sheet, rows: Sequence[Row], left: float, right: float, base: float) -> float:
    """The line after the last one."""
    for row in rows:
        sheet.text(left, base, row.key, "key")
        for value in row.values:
            sheet.text(right, base, value, "address" if row.address else "word", "end")
            base += LINE
    return base


def _card(sheet: Sheet, card: Card, box: Box) -> None:
    fill, border = COLOURS[card.kind]
    sheet.rect(box.left, box.top, WIDTH, box.height, (fill, border), 10)
    sheet.text(box.left + PAD, box.top + 24, card.name, "name")
    badge = 8.0 * len(card.badge) + 12
    sheet.rect(box.left + WIDTH - PAD - badge, box.top + 11, badge, 18, (border, border), 9)
    sheet.text(box.left + WIDTH - PAD - badge / 2, box.top + 24, card.badge, "badge", "middle")
    base = _rows(sheet, card.rows, box.left + PAD, box.left + WIDTH - PAD, box.top + HEAD + 14)
    top = base - LINE + SPACE + 4
    for part in card.parts:
        sheet.rect(box.left + INSET, top, WIDTH - 2 * INSET, _part_height(part), COLOURS[part.kind], 7)
        what = "control plane" if part.kind == "cluster" else f"{part.kind} pool"
        sheet.text(box.left + INSET + 10, top + 18, part.name, "part")
        sheet.text(box.left + WIDTH - INSET - 10, top + 18, what, "key", "end")
        _rows(sheet, part.rows, box.left + INSET + 10, box.left + WIDTH - INSET - 10, top + 18 + LINE)
        top += _part_height(part) + SPACE


def _look(usual: dict[str, str], name: str, live: Mapping[str, str] | None) -> tuple[dict[str, str], str]:
    """How a link is drawn, and what its title says besides."""
    if live is None:
        return usual, ""
    state = live.get(name, UNKNOWN)
    return LIVE[state], f", {state}"


def _arc(one: Box, other: Box, shift: float = 0.0) -> str:
    """Below the regions, the deeper the farther they stand from each other."""
    one, other = sorted((one, other))
    apart = round((other.left - one.left) / (WIDTH + GAP))
    deep = one.bottom + min(BETWEEN - 30, 34.0 + 26 * apart) + shift
    start, end = one.left + WIDTH * 0.9 - shift, other.left + WIDTH * 0.1 + shift
    return f"M{start:g} {one.bottom:g} C{start:g} {deep:g} {end:g} {deep:g} {end:g} {other.bottom:g}"


def _peer(sheet: Sheet, boxes: dict[str, Box], peering: Peering, live: Mapping[str, str] | None) -> None:
    look, state = _look(PEERING, peering.name, live)
    title = f"{peering.here} and {peering.there}: peering{state}"
    sheet.path(_arc(boxes[peering.here], boxes[peering.there]), look, title)


def _cross(sheet: Sheet, boxes: dict[str, Box], crossing: Crossing, count: int, live: Mapping[str, str] | None) -> None:
    """A line for each tunnel of two clouds, inside of where a peering would be."""
    look, state = _look(TUNNEL, crossing.name, live)
    curve = _arc(boxes[crossing.aws], boxes[crossing.azure], -APART * crossing.number)
    whole = f"{crossing.aws} and {crossing.azure}: {count} tunnels"
    sheet.path(curve, look, f"{crossing.name}{state}" if state else whole)


def _tunnels(
    sheet: Sheet,
    ends: tuple[float, float],
    edges: tuple[float, float],
    tunnels: Sequence[Tunnel],
    live: Mapping[str, str] | None,
) -> None:
    """A line each, from a site's edge up to a region's."""
    half, count = sum(edges) / 2, len(tunnels)
    for number, tunnel in enumerate(tunnels):
        start, end = (place + (number - (count - 1) / 2) * APART for place in ends)
        curve = f"M{start:g} {edges[0]:g} C{start:g} {half:g} {end:g} {half:g} {end:g} {edges[1]:g}"
        look, state = _look(TUNNEL, tunnel.name, live)
        whole = f"{tunnel.site} and {tunnel.region}: {count} tunnels"
        sheet.path(curve, look, f"{tunnel.name}{state}" if state else whole)


def _legend(sheet: Sheet, base: float, live: Mapping[str, str] | None) -> None:
    left = MARGIN
    planned = ((TUNNEL, "tunnels of a site or of two clouds"), (PEERING, "peering of two regions"))
    observed = (
        (LIVE[UP], "link that is up"),
        (LIVE[DOWN], "link that is down"),
        (LIVE[UNKNOWN], "link of which nothing is known"),
    )
    for look, words in planned if live is None else observed:
        sheet.path(f"M{left:g} {base - 4:g} h36", look, words)
        sheet.text(left + 46, base, words, "note")
        left += 290 if live is None else 190
