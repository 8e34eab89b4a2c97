"""The report as a picture: a bar for what each cause cost, and for each team, pool and board. Pure."""

from collections.abc import Sequence

from landbridge import bars

from .report import Report, Row

# Title of a panel → its rows' field, and their colour.
PANELS = (
    ("Cause", "causes", "#c0562b"),
    ("Team", "teams", "#4a86c5"),
    ("Pool", "pools", "#8f6bc1"),
    ("Board", "boards", "#3f9a6d"),
)


def svg(cluster: str, report: Report) -> str:
    """Causes on the left, the rest below each other on the right."""
    first, *others = [(title, _first(getattr(report, field)), colour) for title, field, colour in PANELS]
    right = sum(bars.height(rows) for _, rows, _ in others if rows)
    height = bars.TITLE + max(bars.height(first[1]), right) + bars.MARGIN
    told = f"{report.deaths} deaths, {report.gpu_hours:,.0f} GPU hours · {report.well:,} ended well"
    sheet = bars.page(height, f"What ended in {cluster}, and why", report.since, report.until, told)
    top = bars.TITLE
    for title, rows, colour in others:
        if rows:
            bars.panel(sheet, title, *_bars(rows), [colour], bars.RIGHT, top)
            top += bars.height(rows)
    bars.panel(sheet, first[0], *_bars(first[1]), [first[2]], bars.LEFT, bars.TITLE)
    return sheet.written()


def _first(rows: Sequence[Row]) -> list[Row]:
    rest = rows[bars.MOST :]
    more = Row(f"{len(rest)} more", sum(row.deaths for row in rest), sum(row.gpu_hours for row in rest))
    return [*rows[: bars.MOST], *([more] if rest else [])]


def _bars(rows: Sequence[Row]) -> tuple[str, list[bars.Row]]:
    """Of GPU hours; where nothing had a GPU, of deaths."""
    if any(row.gpu_hours for row in rows):
        made = [bars.Row(row.name, row.gpu_hours, f"{row.gpu_hours:,.1f} ({row.deaths})") for row in rows]
        return "GPU hours (deaths)", made
    return "deaths", [bars.Row(row.name, row.deaths, str(row.deaths)) for row in rows]
