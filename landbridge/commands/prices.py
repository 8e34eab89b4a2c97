"""`landbridge prices`: what machines of the fleet cost, how old these prices are, and newer ones."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.text import Text

from fleet.model import Fleet
from fleet.price_book import KIND_WORDS, Kind
from fleet.prices import OLD_DAYS, Price, listed
from landbridge import tables
from landbridge.errors import DONE
from landbridge.output import Output
from landbridge.prices import age, cost
from landbridge.prices.bought import bought, types

from . import options
from .options import fleet_option, json_option
from .prices_refresh import loaded_unfetched, refresh

NOT_KNOWN = "-"


class Row(NamedTuple):
    """`pools` are those that buy it there, and other parts of the fleet; empty where none does."""

    region: str
    instance_type: str
    pools: Sequence[str]
    prices: Mapping[Kind, Price | None]


@click.group(invoke_without_command=True)
@fleet_option
@json_option
def prices(*, fleet_file: Path | None, as_json: bool) -> int:
    """Shows what the fleet's instance types cost in its regions, and of when these prices are."""
    if click.get_current_context().invoked_subcommand is not None:
        return DONE
    out, loaded, today = options.output(as_json=as_json), loaded_unfetched(fleet_file), age.today()
    rows, whole = list(rows_of(loaded.fleet)), cost.of_fleet(loaded.fleet)
    if as_json:
        document = {"fleet": loaded.fleet.fleet, "prices": [row_document(row, today) for row in rows]}
        out.document({**document, "old_after_days": OLD_DAYS, "cost": whole.as_json(today)})
        return DONE
    show(rows, out, today)
    for line in cost.lines(whole, today):
        out.console.print(line, soft_wrap=True)
    return DONE


def rows_of(fleet: Fleet) -> Iterator[Row]:
    users: dict[tuple[str, str], list[str]] = {}
    for one in bought(fleet):
        users.setdefault((one.region, one.instance_type), []).append(one.what)
    for region, kinds in types(fleet).items():
        for name in kinds:
            found = {kind: listed(fleet, region, name, kind) for kind in KIND_WORDS}
            yield Row(region, name, users.get((region, name), []), found)


def row_document(row: Row, today: datetime.date) -> dict[str, Any]:
    def one(price: Price | None) -> dict[str, Any] | None:
        if price is None:
            return None
        dated = {"date": str(price.date), "days_old": price.days_old(today)} if price.date else {"date": None}
        return {"usd_per_hour": price.usd, **dated, "source": price.source}

    shown: dict[str, Any] = {kind: one(price) for kind, price in row.prices.items()}
    return {"region": row.region, "instance_type": row.instance_type, "of": [*row.pools], **shown}


def show(rows: Sequence[Row], out: Output, today: datetime.date) -> None:
    """Dollars an hour; a row's date is that of its older price."""
    heads = (*KIND_WORDS.values(), "age")
    table = tables.plain_table("region", "type", *heads, "as of", "for", right=heads)
    table.columns[1].no_wrap = True
    for row in rows:
        dated = age.oldest(row.prices.values())
        days = dated.days_old(today) if dated else 0
        table.add_row(
            Text(row.region, style="bold"),
            row.instance_type,
            *(NOT_KNOWN if one is None else f"{one.usd:,.4f}" for one in row.prices.values()),
            Text(f"{days} d" if dated else "", style="yellow" if days > OLD_DAYS else ""),
            str(dated.date) if dated else "the fleet file" if row.prices["on_demand"] else "",
            ", ".join(row.pools),
        )
    out.console.print(table)


prices.add_command(refresh)
