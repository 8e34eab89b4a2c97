"""`landbridge prices refresh`: today's prices into the file that is committed with the fleet file."""

import datetime
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click
from rich.text import Text

from fleet import price_book
from fleet.errors import FleetError
from fleet.loader import Loaded, load, load_with_lines
from fleet.price_book import KIND_WORDS, Book, RegionPrices
from landbridge import loudness
from landbridge.errors import DONE, FAILED, UsageError
from landbridge.output import Output
from landbridge.prices.bought import types

from . import options
from .options import fleet_option, json_option, together

if TYPE_CHECKING:  # speaks to clouds, which a look at prices does not
    from landbridge.prices.refresh import Fetched

MIB = 1 << 20


def loaded_unfetched(fleet_file: Path | None) -> Loaded:
    """A fleet may need the very prices or shapes that are asked for here. Raises FleetError and UsageError."""
    return load_with_lines(options.existing(fleet_file), fetched=False)


@click.command()
@click.option("--region", "regions", multiple=True, metavar="REGION", help="Only of this region; may be repeated.")
@together(
    click.option(
        "--aws-url",
        envvar="LANDBRIDGE_AWS_PRICES",
        show_envvar=True,
        metavar="URL",
        help="Where AWS's price lists lie, if not at AWS: a mirror.",
    ),
    click.option(
        "--azure-url",
        envvar="LANDBRIDGE_AZURE_PRICES",
        show_envvar=True,
        metavar="URL",
        help="Where Azure's retail prices are asked for, if not at Azure.",
    ),
)
@fleet_option
@json_option
def refresh(
    *, regions: tuple[str, ...], aws_url: str | None, azure_url: str | None, fleet_file: Path | None, as_json: bool
) -> int:
    """Fetches today's prices into fleet.prices.yaml, which is committed with the fleet file.

    Nobody need be signed in, but for spot prices of AWS. A region that does not answer keeps the prices it has.
    """
    from landbridge.clouds.aws import lookups
    from landbridge.prices import aws, azure
    from landbridge.prices.refresh import Sources, fetch, merged

    out, loaded = options.output(as_json=as_json), loaded_unfetched(fleet_file)
    path = options.existing(fleet_file)
    asked = wanted(loaded, regions)
    sources = Sources(
        _address(aws_url, aws.URL), _address(azure_url, azure.URL), lambda region: lookups.clients(region, None)("ec2")
    )
    with Fetching(out) as fetching:
        fetched = fetch(loaded.fleet, asked, sources, datetime.datetime.now(datetime.UTC), fetching)
    file, before = price_book.book_path(path), loaded.fleet.price_book
    if any(one.lists for one in fetched):
        book = merged({name: one for name, one in before.items() if name in loaded.fleet.regions}, fetched)
        _write(file, book)
    problems = problems_of(path)
    if as_json:
        shown = [_document(one) for one in fetched]
        out.document({"fleet": loaded.fleet.fleet, "file": str(file), "regions": shown, "problems": problems})
    else:
        _tell(fetched, before, file, out)
        for problem in problems:
            out.console.print(Text(problem, style="yellow"), soft_wrap=True)
    return FAILED if any("on_demand" in one.away for one in fetched) else DONE


def wanted(loaded: Loaded, regions: Sequence[str]) -> dict[str, list[str]]:
    """Instance types by region. Raises UsageError for a region that the fleet does not have."""
    known = types(loaded.fleet)
    for name in regions:
        if name not in known:
            raise UsageError(f"{loaded.file}: there is no region {name}. Known: {', '.join(known)}.")
    return {name: kinds for name, kinds in known.items() if kinds and (not regions or name in regions)}


def _address(given: str | None, default: str) -> str:
    """Raises UsageError: it is written into a file that many read, so there is no password in it."""
    parts = urlsplit(given or default)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
        raise UsageError(
            f"An address of price lists is such as {default}: http or https, with no user, password or question mark."
        )
    return given or default


def _write(file: Path, book: Book) -> None:
    try:
        price_book.write(file, book)
    except OSError as error:
        raise UsageError(f"{file}: the prices can't be written: {error.strerror}. Nothing was changed.") from None


def problems_of(path: Path) -> list[str]:
    """What the fleet file may not say by what was fetched."""
    try:
        load(path)
    except FleetError as error:
        return [str(one) for one in error.problems]
    return []


def _document(one: "Fetched") -> dict[str, Any]:
    lists: dict[str, Any] = {kind: held.model_dump(mode="json") for kind, held in one.lists.items()}
    return {"region": one.region, **lists, "not_fetched": dict(one.away), "no_price": dict(one.lacking)}


def _tell(fetched: Sequence["Fetched"], before: Book, file: Path, out: Output) -> None:
    say = out.console.print
    for one in fetched:
        came = ", ".join(f"{len(held.usd_per_hour)} {KIND_WORDS[kind]}" for kind, held in one.lists.items())
        say(Text.assemble((one.region, "bold"), f": {f'prices: {came}' if came else 'nothing fetched'}"))
        for line in changes(one, before.get(one.region)):
            say(f"  {line}")
        for why in dict.fromkeys(one.away.values()):
            what = " and ".join(KIND_WORDS[kind] for kind in one.away if one.away[kind] == why)
            say(Text(f"  Not fetched, {what}: {why}.", style="yellow"), soft_wrap=True)
        if missing := one.lacking.get("on_demand"):
            say(Text(f"  Not sold there, by its list: {', '.join(missing)}.", style="yellow"), soft_wrap=True)
    if any(one.lists for one in fetched):
        say(f"{file.name} is written: commit it.")
    else:
        say("Nothing was fetched, and nothing is written.", style="red")


def changes(one: "Fetched", before: RegionPrices | None) -> Iterator[str]:
    """Prices that were others in the file before."""
    for kind, held in one.lists.items():
        old = getattr(before, kind, None)
        for name, usd in sorted(held.usd_per_hour.items()):
            if old and (was := old.usd_per_hour.get(name)) and was != usd:
                yield f"{name} {KIND_WORDS[kind]}: ${was:,.4f}, now ${usd:,.4f}"


class Fetching:
    """How much of each list has come."""

    def __init__(self, out: Output) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), TextColumn("{task.fields[came]}"))
        unseen = loudness.quiet() or not sys.stderr.isatty()
        self.bar = Progress(*columns, console=out.progress, transient=True, disable=unseen)
        self.tasks: dict[str, Any] = {}

    def __enter__(self) -> "Fetching":
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def __call__(self, region: str, done: int, of: int | None) -> None:
        if region not in self.tasks:
            self.tasks[region] = self.bar.add_task(f"prices of {region}", total=None, came="")
        came = f"{done / MIB:.0f} MiB" if done > MIB else ""
        self.bar.update(self.tasks[region], completed=done, total=of, came=came)
