"""`landbridge shapes refresh`: what machine types have today, into the file that is committed with the fleet file."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from fleet import shape_book
from fleet.model import Fleet
from landbridge import age, extras
from landbridge.errors import DONE, FAILED, UsageError
from landbridge.local import enter
from landbridge.output import Output
from local.environment import signing_in

from . import options
from .options import fleet_option, json_option, local_option
from .prices_refresh import loaded_unfetched, problems_of, wanted

if TYPE_CHECKING:  # speaks to clouds, which a look at shapes does not
    from landbridge.shapes.asked import Sources
    from landbridge.shapes.refresh import Fetched


@click.command()
@click.option("--region", "regions", multiple=True, metavar="REGION", help="Only of this region; may be repeated.")
@local_option
@fleet_option
@json_option
def refresh(*, regions: tuple[str, ...], local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Fetches what machine types have into fleet.shapes.yaml, which is committed with the fleet file.

    You must be signed in to the fleet's clouds. A region that does not answer keeps the shapes it has.
    """
    from landbridge.shapes.asked import ask
    from landbridge.shapes.refresh import changes, fetched, merged

    out, loaded = options.output(as_json=as_json), loaded_unfetched(fleet_file)
    path, types = options.existing(fleet_file), wanted(loaded, regions)
    answers = ask(loaded.fleet, types, sources_of(loaded.fleet, local=local))
    found = [*fetched(loaded.fleet, types, answers, age.today())]
    told = {one.region: [*changes(loaded.fleet, one)] for one in found}
    file, before = shape_book.book_path(path), loaded.fleet.shape_book
    if any(one.held for one in found):
        _write(file, merged({name: one for name, one in before.items() if name in loaded.fleet.regions}, found))
    problems = problems_of(path)
    if as_json:
        shown = [_document(one, told[one.region]) for one in found]
        out.document({"fleet": loaded.fleet.fleet, "file": str(file), "regions": shown, "problems": problems})
    else:
        _tell(found, told, file, out)
        for problem in problems:
            out.console.print(Text(problem, style="yellow"), soft_wrap=True)
    return FAILED if any(one.away for one in found) else DONE


def sources_of(fleet: Fleet, *, local: bool) -> "Sources":
    """Clients as the user is signed in. With `local`, this process goes on inside the local cloud."""
    from landbridge.shapes.clients import signed_in

    if any(region.cloud == "azure" for region in fleet.regions.values()):
        extras.check("azure")
    if local:
        enter.entered()
        account = fleet.aws.account_id if fleet.aws else None
        os.environ.update(signing_in(account, fleet.azure.tenant_id if fleet.azure else None))
    return signed_in(fleet, local=local)


def _write(file: Path, book: shape_book.Book) -> None:
    try:
        shape_book.write(file, book)
    except OSError as error:
        raise UsageError(f"{file}: the shapes can't be written: {error.strerror}. Nothing was changed.") from None


def _document(one: "Fetched", told: Sequence[str]) -> dict[str, Any]:
    held = one.held.model_dump(mode="json", exclude_defaults=True) if one.held else None
    rest = {"not_offered": [*one.lacking], "no_image_for": dict(one.unfit), "changes": [*told]}
    return {"region": one.region, "shapes": held, "not_fetched": one.away or None, **rest}


def _tell(found: Sequence["Fetched"], told: dict[str, list[str]], file: Path, out: Output) -> None:
    say = out.console.print
    for one in found:
        came = f"machine types: {len(one.held.types)}" if one.held else "nothing fetched"
        say(Text.assemble((one.region, "bold"), f": {came}"))
        for line in told[one.region]:
            say(f"  {line}", soft_wrap=True)
        warnings = [f"Not fetched: {one.away}."] if one.away else []
        warnings += [f"Not offered there: {', '.join(one.lacking)}."] if one.lacking else []
        warnings += [f"Left out, {name}: {why}." for name, why in one.unfit.items()]
        for warning in warnings:
            say(Text(f"  {warning}", style="yellow"), soft_wrap=True)
    if any(one.held for one in found):
        say(f"{file.name} is written: commit it.")
    else:
        say("Nothing was fetched, and nothing is written.", style="red")
