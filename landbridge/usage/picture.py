"""The account as a picture: a bar for what each team, person, run and pool held, with what of it was lost. Pure."""

from collections.abc import Sequence

from landbridge import bars

from .account import Account, Row

PANELS = (("Team", "teams"), ("Person", "people"), ("Pool", "pools"), ("Run", "runs"))
# Told apart by those who see no red, too, and in grey: word, colour, and how far from the right edge.
KEY = (("held", "#4a86c5", 330.0), ("lost with what ended early", "#8c2d04", 250.0))


def svg(cluster: str, made: Account) -> str:
    """Two panels beside each other, twice."""
    panels = [(title, _first(made.tables[field])) for title, field in PANELS]
    tops = [bars.TITLE, bars.TITLE + max(bars.height(rows) for _, rows in panels[:2])]
    height = tops[1] + max(bars.height(rows) for _, rows in panels[2:]) + bars.MARGIN
    sheet = bars.page(height, f"GPU hours of {cluster}", made.since, made.until, told(made))
    for word, colour, away in KEY:
        left = bars.RIGHT + bars.PANEL - away
        sheet.rect(left, bars.MARGIN + 21, 14, 14, (colour, bars.EDGE), 3)
        sheet.text(left + 20, bars.MARGIN + 32, word, "note")
    colours = [colour for _, colour, _ in KEY]
    for number, (title, rows) in enumerate(panels):
        left = (bars.LEFT, bars.RIGHT)[number % 2]
        bars.panel(sheet, title, "GPU hours (lost)", [_bar(row) for row in rows], colours, left, tops[number // 2])
    return sheet.written()


def told(made: Account) -> str:
    """In a line: of no price where none is known."""
    money = f" · {made.dollars:,.0f} US dollars" if made.dollars else ""
    return f"{made.gpu_hours:,.1f} GPU hours held, {made.lost_gpu_hours:,.1f} of them lost{money}"


def _first(rows: Sequence[Row]) -> list[Row]:
    rest = rows[bars.MOST :]
    more = Row(f"{len(rest)} more", sum(row.gpu_hours for row in rest), sum(row.lost_gpu_hours for row in rest), None)
    return [*rows[: bars.MOST], *([more] if rest else [])]


def _bar(row: Row) -> bars.Row:
    return bars.Row(row.name, row.gpu_hours, f"{row.gpu_hours:,.1f} ({row.lost_gpu_hours:,.1f})", row.lost_gpu_hours)
