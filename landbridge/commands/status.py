"""`landbridge status`: each stack's last update, resources, and drift if asked."""

from datetime import UTC, datetime
from pathlib import Path

import click

from fleet.world import World
from landbridge import places
from landbridge.engine.pulumi_command import PulumiCommand
from landbridge.errors import DONE, FAILED
from landbridge.status import stacks as stack_status
from landbridge.up import orphans, progress

from . import options
from .options import fleet_option, json_option, local_option, stacks_argument


@click.command()
@stacks_argument
@local_option
@fleet_option
@click.option("--drift", is_flag=True, help="Ask the cloud, too: what differs from what was built?")
@json_option
def status(stacks: tuple[str, ...], *, local: bool, fleet_file: Path | None, drift: bool, as_json: bool) -> int:
    """Shows each stack: last update, resources, and drift if asked."""
    out = options.output(as_json=as_json)
    world = options.the_fleet(fleet_file)
    picked = [stack.name for stack in options.chosen(stacks, world)]
    place = options.the_place(world, local=local)
    engine = PulumiCommand(places.pulumi_root())
    # Who asks for some stacks is not told of others.
    left = [] if stacks else list(orphans.of_fleet(world, place, engine))
    notes = [*place.notes, *orphans.notice(left, world.path.name, place.options)]
    looked = stack_status.Looked([*picked, *left], place, engine)
    with progress.Screen(looked.reports, notes, out.progress).shown():
        looked.look(drift=drift)
        if drift:
            notes += _leave(looked, world, place, whole=not stacks)
    if as_json:
        document = {"fleet": world.fleet.fleet, "world": place.world, "notes": notes}
        out.document({**document, "stacks": looked.as_json()})
    else:
        looked.show(out.console)
    return FAILED if looked.failed else DONE


def _leave(looked: stack_status.Looked, world: World, place: places.Place, *, whole: bool) -> list[str]:
    """For clusters' monitoring; notes where that can't be."""
    from landbridge.cluster import session  # speaks to clouds: a look at states alone starts without it
    from landbridge.status import left

    return left.leave(
        world.fleet,
        looked.found,
        lambda region, name: session.cloud_in(world, place, region, hasty=True).bucket(name),
        datetime.now(UTC),
        whole=whole,
    )
