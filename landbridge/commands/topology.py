"""`landbridge topology`: a picture of the fleet, from its file and its address plan."""

from pathlib import Path

import click

from components.links.plan import peerings, tunnels
from fleet.world import current

from ..errors import DONE, UsageError
from ..topology import cards, drawing
from . import options


@click.command()
@options.fleet_option
@options.json_option
@click.option(
    "--output",
    "file",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="Where the SVG goes; - is standard output.  [default: FLEET-topology.svg]",
)
def topology(*, fleet_file: Path | None, as_json: bool, file: Path | None) -> int:
    """Draws regions, sites, prefixes, tunnels, pools and control planes as one SVG, as they are planned.

    It asks no cloud. With --json it tells tunnels and peerings to programs, and draws only where --output says so.
    """
    if as_json and file == Path("-"):
        raise click.UsageError("--json and --output - exclude each other: both are for standard output.")
    world = current(options.existing(fleet_file))
    fleet, plan = world.fleet, world.plan
    joined, peered = tunnels(fleet, plan), peerings(fleet)
    out = options.output(as_json=as_json)
    note = f"{fleet.supernet}, {fleet.domain}; as planned in {world.path.name}"
    target = file or (None if as_json else Path(f"{fleet.fleet}-topology.svg"))
    if target is not None:
        regions, sites = cards.regions(fleet, plan), cards.sites(fleet, plan)
        picture = drawing.svg(fleet.fleet, note, regions, sites, joined, peered)
        if target == Path("-"):
            click.echo(picture, nl=False)
            return DONE
        try:
            target.write_text(picture)
        except OSError as error:
            raise UsageError(f"{target}: {error.strerror}: name another file with --output") from None
    if as_json:
        out.document(
            {
                "picture": str(target) if target else None,
                "regions": [*fleet.regions],
                "sites": [*fleet.sites],
                "tunnels": [{**one._asdict(), "name": one.name} for one in joined],
                "peerings": [{**one._asdict(), "name": one.name} for one in peered],
            }
        )
    else:
        held = f"regions {len(fleet.regions)}, sites {len(fleet.sites)}, tunnels {len(joined)}, peerings {len(peered)}"
        out.console.print(f"{target}: {held}. A browser shows it.", markup=False, soft_wrap=True)
    return DONE
