"""`landbridge local host`: hosts of sites on the local cloud, bare as they come from the shop."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from components.pools.site.enrolment import node_name
from landbridge.errors import DONE, UsageError
from landbridge.local import enter
from landbridge.local.enter import LOCAL_HOME
from landbridge.site import hosts as site_hosts
from local import client
from local import hosts as local_hosts
from local.environment import scrubbed

from . import options
from .options import fleet_option, together

named = together(click.argument("site", metavar="SITE"), click.argument("name", metavar="HOST"))


@click.group()
def host() -> None:
    """Hosts of sites in the local cloud, where a person's part can be tried. `up --local` does it all by itself."""


@host.command()
@named
@fleet_option
def start(site: str, name: str, *, fleet_file: Path | None) -> int:
    """Has HOST stand up bare: an image's programs, its address in the site's LAN, and nothing of a cluster's."""
    from landbridge.site import local_hosts as standing  # speaks to clouds

    world = options.the_fleet(fleet_file)
    chosen = site_hosts.one(world, site, name, None)
    enter.entered()
    found = local_hosts.stand_up(standing.host_request(world, chosen))
    click.echo(f"{found['machine']} is {found['state']} on {found['address']}.")
    return DONE


@host.command()
@named
def stop(site: str, name: str) -> int:
    """Takes HOST down, with its disk. Its node stays in the cluster until it is deleted there."""
    enter.entered()
    local_hosts.take_down(node_name(site, name))
    click.echo(f"{node_name(site, name)} is gone.")
    return DONE


@host.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@named
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(site: str, name: str, command: Sequence[str]) -> None:
    """Runs COMMAND on HOST as root, with this terminal's input: `… -- sh` takes what `site enrol` prints."""
    cloud = client.status(LOCAL_HOME)
    if cloud is None:
        raise UsageError("The local cloud is not up: it has no hosts.")
    words = command[1:] if command[0] == "--" else command
    inside = client.machine_command(cloud, node_name(site, name), words)
    sys.stdout.flush()
    os.execvpe(inside[0], inside, scrubbed(os.environ))  # noqa: S606
