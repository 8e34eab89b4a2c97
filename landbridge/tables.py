"""Tables as all commands print them. Apart from render.py, which knows Pulumi and so takes a while to be imported."""

from collections.abc import Iterable

from rich.table import Table


def plain_table(*columns: str, title: str | None = None, right: Iterable[str] = ()) -> Table:
    table = Table(
        box=None, title=title, title_justify="left", title_style="bold", header_style="dim", padding=(0, 2, 0, 0)
    )
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", no_wrap=column == columns[0])
    return table


def age(seconds: float) -> str:
    """How long ago something was, in the unit of which it is at least two."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"
