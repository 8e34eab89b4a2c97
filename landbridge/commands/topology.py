"""`landbridge topology`: a picture of the fleet, from its file and its address plan, with live links if asked for."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from components.links.plan import Crossing, Peering, Tunnel, crossings, peerings, tunnels
from fleet.world import World, current
from landbridge.errors import DONE
from landbridge.topology import drawing, labels

from . import options


@click.command()
@options.fleet_option
@options.json_option
@options.output_option("file", "FLEET-topology.svg", stdout=True)
@click.option("--live", is_flag=True, help="Ask the clouds which links are up.")
@options.local_option
def topology(*, fleet_file: Path | None, as_json: bool, file: Path | None, live: bool, local: bool) -> int:
    """Draws regions, sites, prefixes, tunnels, pools and control planes as one SVG, as they are planned.

    It asks no cloud unless --live does. With --json it tells tunnels and peerings to programs, and draws only where
    --output says so.
    """
    if as_json and file == options.STDOUT:
        raise click.UsageError("--json and --output - exclude each other: both are for standard output.")
    world = current(options.existing(fleet_file))
    fleet, plan = world.fleet, world.plan
    to_sites, peered, cross_cloud = tunnels(fleet, plan), peerings(fleet), crossings(fleet, plan)
    out = options.output(as_json=as_json)
    said = click.get_current_context().get_parameter_source("local") is ParameterSource.COMMANDLINE
    states = states_of(world, local=local) if live or (local and said) else None
    when = f", links as of {datetime.now(UTC):%Y-%m-%d %H:%M} UTC" if states is not None else ""
    note = f"{fleet.supernet}, {fleet.domain}; as planned in {world.path.name}{when}"
    target = file or (None if as_json else Path(f"{fleet.fleet}-topology.svg"))
    if target is not None:
        regions, sites = labels.regions(fleet, plan), labels.sites(fleet, plan)
        picture = drawing.svg(fleet.fleet, note, regions, sites, to_sites, peered, cross_cloud, states)
        if target == options.STDOUT:
            click.echo(picture, nl=False)
            return DONE
        options.save(target, picture, "--output")
    if as_json:
        out.document(
            {
                "picture": str(target) if target else None,
                "regions": [*fleet.regions],
                "sites": [*fleet.sites],
                "tunnels": [tunnel_document(one, states) for one in to_sites],
                "peerings": [tunnel_document(one, states) for one in peered],
                "crossings": [tunnel_document(one, states) for one in cross_cloud],
            }
        )
    else:
        links = f"tunnels {len(to_sites) + len(cross_cloud)}, peerings {len(peered)}"
        summary = f"regions {len(fleet.regions)}, sites {len(fleet.sites)}, {links}"
        out.console.print(f"{target}: {summary}. A browser shows it.", markup=False, soft_wrap=True)
    return DONE


def tunnel_document(one: Tunnel | Peering | Crossing, states: Mapping[str, str] | None) -> dict[str, Any]:
    known = {} if states is None else {"state": states.get(one.name, drawing.UNKNOWN)}
    return {**one._asdict(), "name": one.name, **known}


def states_of(world: World, *, local: bool) -> dict[str, str]:
    """Of every link by its name. Raises LandbridgeError."""
    from landbridge.cluster import session  # large: a picture of the plan needs no cloud
    from landbridge.links.cross_cloud import cross_cloud_statuses
    from landbridge.links.info import Connections
    from landbridge.links.status import peering_statuses, tunnel_statuses
    from landbridge.links.tunnel_status import NONE, UNKNOWN

    links = Connections(world, session.the_place(world, local=local))
    ends = [(one.tunnel, one.state) for one in tunnel_statuses(links)] + [
        (one.tunnel, one.state) for one in cross_cloud_statuses(links)
    ]
    found = {name: drawing.DOWN if state == NONE else state for name, state in ends}
    other = {UNKNOWN: drawing.UNKNOWN}
    peers = {
        Peering(one.here, one.there).name: drawing.UP if one.up else other.get(one.state, drawing.DOWN)
        for one in peering_statuses(links)
    }
    return {**found, **peers}
