"""Panels of bars in a picture, one below the other: a name, a bar, and its numbers in words. Lengths are in pixels."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from .sheet import Sheet

MARGIN, LABEL, BAR, NUMBERS, LINE, HEAD, TITLE = 40.0, 190.0, 330.0, 170.0, 26.0, 44.0, 90.0
PANEL = LABEL + BAR + NUMBERS
WIDTH = 2 * PANEL + 3 * MARGIN
# Where a panel of the left and of the right column begins.
LEFT, RIGHT = MARGIN, 2 * MARGIN + PANEL
EDGE = "#ffffff"
# Of a panel the first; the rest is one line.
MOST = 12


class Row(NamedTuple):
    """`part` of the value is drawn in the panel's second colour."""

    name: str
    value: float
    numbers: str
    part: float = 0.0


def page(height: float, title: str, since: float, until: float, note: str) -> Sheet:
    """Its head alone, of a time in seconds of the epoch."""
    sheet = Sheet(WIDTH, height, title)
    sheet.text(MARGIN, MARGIN + 8, title, "title")
    days = " to ".join(f"{datetime.fromtimestamp(at, UTC):%-d %b %Y}" for at in (since, until))
    sheet.text(MARGIN, MARGIN + 32, f"{days} · {note}", "note")
    return sheet


def height(rows: Sequence[object]) -> float:
    return HEAD + len(rows) * LINE + LINE


def panel(
    sheet: Sheet, title: str, unit: str, rows: Sequence[Row], colours: Sequence[str], left: float, top: float
) -> None:
    most = max((row.value for row in rows), default=1.0) or 1.0
    sheet.text(left, top + 24, title, "name")
    sheet.text(left + PANEL, top + 24, unit, "note", "end")
    for number, row in enumerate(rows):
        base = top + HEAD + number * LINE
        sheet.text(left, base + 13, row.name, "word")
        lengths = (row.value, row.part) if row.part else (row.value,)
        for length, colour in zip(lengths, colours, strict=False):
            sheet.rect(left + LABEL, base, max(2.0, BAR * length / most), LINE - 8, (colour, EDGE), 3)
        sheet.text(left + PANEL, base + 13, row.numbers, "address", "end")
