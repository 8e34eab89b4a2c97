"""`landbridge shapes`: what the fleet's machine types have, of when that is, and newer answers."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.text import Text

from fleet.dated import OLD_DAYS
from fleet.model import Fleet
from fleet.shape_book import BookShape
from fleet.shapes import Listed, listed
from landbridge import age, tables
from landbridge.errors import DONE
from landbridge.output import Output
from landbridge.prices.bought import bought

from . import options
from .options import fleet_option, json_option
from .prices_refresh import loaded_unfetched
from .shapes_refresh import refresh

NOT_KNOWN = "-"
RIGHT = ("vcpus", "gib")
TOLD = (*RIGHT, "gpus", "network", "disks", "zones")


class Row(NamedTuple):
    """`users` are pools, and other parts of the fleet."""

    region: str
    instance_type: str
    users: Sequence[str]
    known: Listed | None


@click.group(invoke_without_command=True)
@fleet_option
@json_option
def shapes(*, fleet_file: Path | None, as_json: bool) -> int:
    """Shows what the fleet's machine types have: vCPUs, memory, GPUs, network and zones, and of when that is."""
    if click.get_current_context().invoked_subcommand is not None:
        return DONE
    out, loaded, today = options.output(as_json=as_json), loaded_unfetched(fleet_file), age.today()
    rows = list(rows_of(loaded.fleet))
    known = [row.known for row in rows]
    if as_json:
        shown = [_document(row) for row in rows]
        dated = {"age": age.as_json(known, today), "old_after_days": OLD_DAYS}
        out.document({"fleet": loaded.fleet.fleet, "shapes": shown, **dated})
        return DONE
    show(rows, out)
    if dated_line := age.line(age.SHAPES, known, today):
        out.console.print(dated_line, soft_wrap=True)
    return DONE


def rows_of(fleet: Fleet) -> Iterator[Row]:
    users: dict[tuple[str, str], list[str]] = {}
    for one in bought(fleet):
        users.setdefault((one.region, one.instance_type), []).append(one.what)
    for (region, name), of in sorted(users.items(), key=lambda one: [*fleet.regions].index(one[0][0])):
        yield Row(region, name, of, listed(fleet, region, name))


def _document(row: Row) -> dict[str, Any]:
    known = row.known and {
        **row.known.shape.model_dump(mode="json"),
        "source": row.known.source,
        "date": str(row.known.date),
    }
    return {"region": row.region, "instance_type": row.instance_type, "of": [*row.users], "shape": known}


def show(rows: Sequence[Row], out: Output) -> None:
    """Columns of which nothing is known are left out, and days that are all the same: the line below has that one."""
    told = [cells(row.known.shape) if row.known else (NOT_KNOWN,) * len(TOLD) for row in rows]
    dates = [str(row.known.date) if row.known else NOT_KNOWN for row in rows]
    columns = {name: cell for name, cell in zip(TOLD, zip(*told, strict=True), strict=True) if {*cell} != {NOT_KNOWN}}
    if len({*dates}) > 1:
        columns["as of"] = tuple(dates)
    table = tables.plain_table("region", "type", *columns, "for", right=RIGHT)
    table.columns[1].no_wrap = True
    table.columns[-1].overflow = "fold"
    for number, row in enumerate(rows):
        known = (cell[number] for cell in columns.values())
        table.add_row(Text(row.region, style="bold"), row.instance_type, *known, ", ".join(row.users))
    out.console.print(table)


def cells(shape: BookShape) -> tuple[str, ...]:
    """Those of one type, as TOLD calls them."""
    fabric = f"{shape.efa} EFA" if shape.efa else "InfiniBand" if shape.rdma else ""
    return (
        str(shape.cpus),
        f"{shape.memory_gib:g}",
        f"{shape.gpus} {shape.gpu or ''}".strip() if shape.gpus else NOT_KNOWN,
        ", ".join(part for part in (shape.network or "", fabric) if part) or NOT_KNOWN,
        f"{shape.local_disks} x {shape.local_disk_gb} GB" if shape.local_disks else NOT_KNOWN,
        " ".join(shape.zones) if shape.zones else NOT_KNOWN,
    )


shapes.add_command(refresh)
