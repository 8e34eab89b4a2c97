"""`landbridge quotas`: what the clouds let the fleet have, what is used of it, and what the fleet needs."""

import time
from pathlib import Path

import click

from landbridge import extras
from landbridge.errors import DONE, FAILED

from . import options
from .options import fleet_option, json_option, local_option


@click.command()
@local_option
@fleet_option
@json_option
def quotas(*, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Shows whether the clouds' quotas are enough for the fleet, now and at its largest.

    Exits with 1 where one is too small, or is not told. What is used counts the whole account.
    """
    from landbridge.quotas import read

    out, world = options.output(as_json=as_json), options.the_fleet(fleet_file)
    extras.check_fleet(world)
    if local:
        options.the_place(world, local=True)
    found = read.table(world.fleet, read.signed_in(world.fleet, local=local), time.time())
    found = found._replace(file=world.path.name)
    if as_json:
        out.document({"fleet": world.fleet.fleet, **found.as_json()})
    else:
        found.show(out.console)
    return DONE if found.enough else FAILED
