"""The account as a picture: a bar for what each team, person, run and pool held, with what of it was lost. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime

from landbridge.sheet import Sheet

from .account import Account, Row

MARGIN, LABEL, BAR, NUMBERS, LINE, HEAD, TITLE = 40.0, 190.0, 330.0, 170.0, 26.0, 44.0, 90.0
PANEL = LABEL + BAR + NUMBERS
PANELS = (("Team", "teams"), ("Person", "people"), ("Pool", "pools"), ("Run", "runs"))
MOST = 12
# Told apart by those who see no red, too, and in grey.
KEPT, LOST, EDGE = "#4a86c5", "#8c2d04", "#ffffff"


def svg(cluster: str, made: Account) -> str:
    """Two panels beside each other, twice."""
    panels = [(title, _first(made.tables[field])) for title, field in PANELS]
    tops = [TITLE, TITLE + max(_height(rows) for _, rows in panels[:2])]
    height = tops[1] + max(_height(rows) for _, rows in panels[2:]) + MARGIN
    name = f"GPU hours of {cluster}"
    sheet = Sheet(2 * PANEL + 3 * MARGIN, height, name)
    sheet.text(MARGIN, MARGIN + 8, name, "title")
    days = " to ".join(f"{datetime.fromtimestamp(at, UTC):%-d %b %Y}" for at in (made.since, made.until))
    sheet.text(MARGIN, MARGIN + 32, f"{days} · {told(made)}", "note")
    right = 2 * MARGIN + 2 * PANEL
    for left, colour, word in ((right - 330, KEPT, "held"), (right - 250, LOST, "lost with what ended early")):
        sheet.rect(left, MARGIN + 21, 14, 14, (colour, EDGE), 3)
        sheet.text(left + 20, MARGIN + 32, word, "note")
    for number, (title, rows) in enumerate(panels):
        _panel(sheet, title, rows, MARGIN + (number % 2) * (MARGIN + PANEL), tops[number // 2])
    return sheet.written()


def told(made: Account) -> str:
    """In a line: of no price where none is known."""
    money = f" · {made.dollars:,.0f} US dollars" if made.dollars else ""
    return f"{made.gpu_hours:,.1f} GPU hours held, {made.lost_gpu_hours:,.1f} of them lost{money}"


def _first(rows: Sequence[Row]) -> list[Row]:
    rest = rows[MOST:]
    more = Row(f"{len(rest)} more", sum(row.gpu_hours for row in rest), sum(row.lost_gpu_hours for row in rest), None)
    return [*rows[:MOST], *([more] if rest else [])]


def _height(rows: Sequence[Row]) -> float:
    return HEAD + len(rows) * LINE + LINE


def _panel(sheet: Sheet, title: str, rows: Sequence[Row], left: float, top: float) -> None:
    most = max((row.gpu_hours for row in rows), default=1.0) or 1.0
    sheet.text(left, top + 24, title, "name")
    sheet.text(left + PANEL, top + 24, "GPU hours (lost)", "note", "end")
    for number, row in enumerate(rows):
        base = top + HEAD + number * LINE
        sheet.text(left, base + 13, row.name, "word")
        sheet.rect(left + LABEL, base, max(2.0, BAR * row.gpu_hours / most), LINE - 8, (KEPT, EDGE), 3)
        if row.lost_gpu_hours:
            sheet.rect(left + LABEL, base, max(2.0, BAR * row.lost_gpu_hours / most), LINE - 8, (LOST, EDGE), 3)
        sheet.text(left + PANEL, base + 13, f"{row.gpu_hours:,.1f} ({row.lost_gpu_hours:,.1f})", "address", "end")
