"""The report as a picture: a bar for what each cause cost, and for each team, pool and board. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime

from landbridge.sheet import Sheet

from .report import Report, Row

MARGIN, LABEL, BAR, NUMBERS, LINE, HEAD, TITLE = 40.0, 190.0, 330.0, 170.0, 26.0, 44.0, 90.0
PANEL = LABEL + BAR + NUMBERS
# Title of a panel → its rows' field, and their colour.
PANELS = (
    ("Cause", "causes", "#c0562b"),
    ("Team", "teams", "#4a86c5"),
    ("Pool", "pools", "#8f6bc1"),
    ("Board", "boards", "#3f9a6d"),
)
# Of each the first; the rest is one line.
MOST = 12
EDGE = "#ffffff"


def svg(cluster: str, report: Report) -> str:
    """Causes on the left, the rest below each other on the right."""
    first, *others = [(title, _first(getattr(report, field)), colour) for title, field, colour in PANELS]
    right = sum(_height(rows) for _, rows, _ in others if rows)
    height = TITLE + max(_height(first[1]), right) + MARGIN
    sheet = Sheet(2 * PANEL + 3 * MARGIN, height, f"What ended in {cluster}, and why")
    sheet.text(MARGIN, MARGIN + 8, f"What ended in {cluster}, and why", "title")
    days = f"{_day(report.since)} to {_day(report.until)}"
    told = f"{days} · {report.deaths} deaths, {report.gpu_hours:,.0f} GPU hours · {report.well:,} ended well"
    sheet.text(MARGIN, MARGIN + 32, told, "note")
    _panel(sheet, *first, MARGIN, TITLE)
    top = TITLE
    for title, rows, colour in others:
        if rows:
            _panel(sheet, title, rows, colour, 2 * MARGIN + PANEL, top)
            top += _height(rows)
    return sheet.written()


def _day(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%-d %b %Y}"


def _first(rows: Sequence[Row]) -> list[Row]:
    rest = rows[MOST:]
    more = Row(f"{len(rest)} more", sum(row.deaths for row in rest), sum(row.gpu_hours for row in rest))
    return [*rows[:MOST], *([more] if rest else [])]


def _height(rows: Sequence[Row]) -> float:
    return HEAD + len(rows) * LINE + LINE


def _panel(sheet: Sheet, title: str, rows: Sequence[Row], colour: str, left: float, top: float) -> None:
    """Bars are of GPU hours; where nothing had a GPU, of deaths."""
    by_hours = any(row.gpu_hours for row in rows)
    most = max([row.gpu_hours if by_hours else row.deaths for row in rows], default=1) or 1
    sheet.text(left, top + 24, title, "name")
    sheet.text(left + PANEL, top + 24, "GPU hours (deaths)" if by_hours else "deaths", "note", "end")
    for number, row in enumerate(rows):
        base = top + HEAD + number * LINE
        value = row.gpu_hours if by_hours else row.deaths
        sheet.text(left, base + 13, row.name, "word")
        sheet.rect(left + LABEL, base, max(2.0, BAR * value / most), LINE - 8, (colour, EDGE), 3)
        numbers = f"{row.gpu_hours:,.1f} ({row.deaths})" if by_hours else str(row.deaths)
        sheet.text(left + PANEL, base + 13, numbers, "address", "end")
