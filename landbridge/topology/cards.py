"""A region or a site in the picture: a box with its words, a bar, and what stands in it. Lengths are in pixels."""

from collections.abc import Sequence
from typing import NamedTuple

from landbridge.sheet import Sheet

from .labels import Card, Part, Row

PAD, INSET, LINE, HEAD, PART_HEAD, SPACE, BAR = 16.0, 10.0, 18.0, 34.0, 22.0, 10.0, 14.0
# Of a name, as wide as a letter is in the widest of usual fonts, in the mean.
LETTER = 10.8
# Kind → fill, border.
COLOURS = {
    "region": ("#eef5fc", "#4a86c5"),
    "site": ("#fdf4e8", "#c98a2e"),
    "cluster": ("#e4f3ec", "#3f9a6d"),
    "gpu": ("#ffffff", "#8f6bc1"),
    "cpu": ("#ffffff", "#9dbfe2"),
    "system": ("#ffffff", "#9dbfe2"),
    "ssh": ("#ffffff", "#9dbfe2"),
}
# Of a card: dark enough for the white words on it.
BADGES = {"region": "#2c6aa8", "site": "#8a5a12"}


class Box(NamedTuple):
    """Where a card lies."""

    left: float
    top: float
    width: float
    height: float

    def edge(self, number: int, count: int) -> float:
        """Where the link to that one of so many ends: all have places in their own order, so that few lines cross."""
        return self.left + self.width * (number + 1) / (count + 1)

    @property
    def bottom(self) -> float:
        return self.top + self.height


def _lines(rows: Sequence[Row]) -> int:
    return sum(len(row.values) for row in rows)


def _part_height(part: Part) -> float:
    return PART_HEAD + _lines(part.rows) * LINE + INSET


def high(card: Card) -> float:
    parts = sum(_part_height(part) + SPACE for part in card.parts)
    return HEAD + _lines(card.rows) * LINE + PAD + (BAR + SPACE if card.bar else 0.0) + parts


def _rows(sheet: Sheet, rows: Sequence[Row], left: float, right: float, base: float) -> float:
    """The line after the last one."""
    for row in rows:
        sheet.text(left, base, row.key, "key")
        for value in row.values:
            sheet.text(right, base, value, "address" if row.address else "bad" if row.bad else "word", "end")
            base += LINE
    return base


def draw(sheet: Sheet, card: Card, box: Box) -> None:
    colour = BADGES[card.kind]
    sheet.rect(box.left, box.top, box.width, box.height, COLOURS[card.kind], 10)
    badge = 8.0 * len(card.badge) + 12
    most = int((box.width - 2 * PAD - badge - SPACE) / LETTER)
    sheet.text(box.left + PAD, box.top + 24, card.name, "name", most=most)
    sheet.rect(box.left + box.width - PAD - badge, box.top + 11, badge, 18, (colour, colour), 9)
    sheet.text(box.left + box.width - PAD - badge / 2, box.top + 24, card.badge, "badge", "middle")
    base = _rows(sheet, card.rows, box.left + PAD, box.left + box.width - PAD, box.top + HEAD + 14)
    top = base - LINE + SPACE + 4
    if card.bar:
        _bar(sheet, card, box, top)
        top += BAR + SPACE
    for part in card.parts:
        sheet.rect(box.left + INSET, top, box.width - 2 * INSET, _part_height(part), COLOURS[part.kind], 7)
        what = "control plane" if part.kind == "cluster" else f"{part.kind} pool"
        sheet.text(box.left + INSET + 10, top + 18, part.name, "part")
        sheet.text(box.left + box.width - INSET - 10, top + 18, what, "key", "end")
        _rows(sheet, part.rows, box.left + INSET + 10, box.left + box.width - INSET - 10, top + 18 + LINE)
        top += _part_height(part) + SPACE


def _bar(sheet: Sheet, card: Card, box: Box, top: float) -> None:
    whole, left = sum(one.number for one in card.bar), box.left + PAD
    for one in card.bar:
        width = (box.width - 2 * PAD) * one.number / whole
        sheet.piece(left, top, width, BAR, one.look, f"{one.number:,} {one.words}")
        left += width
