"""`landbridge up`, `preview` and `destroy`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from fleet.world import World
from landbridge import extras, loudness, places
from landbridge.cluster import rebuild_state
from landbridge.engine.pulumi_command import PulumiCommand
from landbridge.engine.stack import StackEngine
from landbridge.local import kubernetes
from landbridge.monitoring import own_alarms
from landbridge.shapes.check import SHAPES
from landbridge.up import consent, guards, orphans
from landbridge.up.report import Report
from landbridge.up.run import FleetRun
from landbridge.up.run_context import How
from stacks.catalogue import StackSpec

from . import options
from .options import fleet_option, json_option, local_option, stacks_argument, together

common = together(
    stacks_argument,
    local_option,
    fleet_option,
    json_option,
    click.option("--diff", is_flag=True, help="Show every changed property."),
    click.option("--parallel", "-p", type=click.IntRange(1), metavar="N", help="Operations at a time in one stack."),
)
yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask, unless a limit is passed.")
refresh_option = click.option(
    "--refresh", is_flag=True, help="Read the cloud first, so that drift is repaired; --full is implied."
)
full_option = click.option("--full", is_flag=True, help="Run the engine for stacks that nothing has changed for, too.")
quotas_option = click.option(
    "--check-quotas", is_flag=True, help="Read the clouds' quotas first, and refuse what has not enough of them."
)
expect_option = click.option("--expect-no-changes", is_flag=True, help="Exit with 3 if anything changes.")
ignore_option = click.option(
    "--ignore",
    "ignored",
    multiple=True,
    type=click.Choice([guards.MACHINES, guards.TUNNELS, guards.LAPTOPS, guards.SSH, guards.RUNS, SHAPES]),
    help="All the same touch several machines or both tunnels of a connection at once, or end all laptops' profiles, "
    "all that vouches for people by SSH, or queues of teams, or use machine types that the cloud does not offer.",
)
allow_options = together(
    *(
        click.option(
            f"--allow-{effect}",
            type=click.IntRange(0),
            metavar="N",
            help=f"Machines, volumes and tunnels this run may {effect}.",
        )
        for effect in consent.EFFECTS
    )
)


@click.command()
@common
@refresh_option
@full_option
@quotas_option
@expect_option
@ignore_option
def preview(stacks: tuple[str, ...], *, expect_no_changes: bool, **given: Any) -> int:
    """Shows what `up` would do."""
    run, report = prepare("preview", stacks, **given)
    with report.screen.shown():
        run.preview(only_look=True)
    return report.end(expect_no_changes=expect_no_changes)


@click.command()
@common
@refresh_option
@full_option
@quotas_option
@expect_option
@yes_option
@ignore_option
@allow_options
def up(stacks: tuple[str, ...], *, yes: bool, expect_no_changes: bool, **given: Any) -> int:
    """Brings stacks to what fleet.yaml says."""
    allowed = consent.taken(given)
    run, report = prepare("up", stacks, **given)
    bring_up(run, report, allowed, yes=yes)
    return report.end(expect_no_changes=expect_no_changes)


def bring_up(run: FleetRun, report: Report, allowed: dict[str, int], *, yes: bool) -> None:
    """Preview, consent, and then all of it. Raises ConsentError."""
    with report.screen.shown():
        run.preview()
    if run.pending and not run.interrupted:
        limits = run.world.fleet.limits
        with report.confirming():
            consent.refuse(run.refusals)
            consent.ask_up(run.blast, limits, allowed, yes=yes, interactive=report.out.interactive)
    if not run.interrupted:
        with report.screen.shown():
            run.up()


@click.command()
@common
@yes_option
@click.option("--ignore-protect", is_flag=True, help="Destroy protected resources, and the data in them, too.")
@click.option("--with-volumes", is_flag=True, help="Delete etcd's volumes, too; without this they stay, set aside.")
def destroy(stacks: tuple[str, ...], *, yes: bool, **given: Any) -> int:
    """Destroys stacks and everything in them."""
    run, report = prepare("destroy", stacks, **given)
    with report.screen.shown():
        run.preview(destroy=True)
    if run.pending and not run.interrupted:
        fleet = run.world.fleet.fleet
        with report.confirming():
            run.how = consent.ask_destroy(run.blast, run.how, fleet, yes=yes, interactive=report.out.interactive)
    if not run.interrupted:
        with report.screen.shown():
            run.destroy()
    return report.end()


def prepare(
    command: str, names: tuple[str, ...], *, local: bool, fleet_file: Path | None, as_json: bool, **how: Any
) -> tuple[FleetRun, Report]:
    """Everything up to the engine's first call. Raises FleetError, LandbridgeError and what the local cloud raises."""
    out = options.output(as_json=as_json)
    world = options.the_fleet(fleet_file)
    for remark in world.remarks if command != "destroy" and not as_json else ():
        loudness.note(str(remark))
    picked = options.chosen(names, world) if command != "destroy" else []
    extras.check_fleet(world)
    if picked:
        own_alarms.check(world)
    if local and picked:
        kubernetes.check(world, picked)
    if local and command == "up":
        kubernetes.build(world, picked)
    place, engine = options.the_place(world, local=local), PulumiCommand(places.pulumi_root())
    out.progress.print(f"Fleet {world.fleet.fleet}: {world.path}", style="dim", markup=False, soft_wrap=True)
    # Who asks for some stacks is not told of others.
    left = orphans.of_fleet(world, place, engine) if command == "destroy" or not names else {}
    if command == "destroy":
        picked = to_destroy(names, world, left, lambda name: StackEngine(name, place, engine).state())
    run = FleetRun(world, picked, place, engine, How(**how), left)
    if command != "destroy":
        run.notes += orphans.notice(left, world.path.name, place.options)
    return run, Report(command, run, out)


def to_destroy(
    names: tuple[str, ...],
    world: World,
    left: Mapping[str, orphans.Orphan],
    state: Callable[[str], Mapping[str, Any] | None],
) -> list[StackSpec]:
    """Those that are named; or the whole fleet with what its file has forgotten, which may stand on the rest."""
    also = [orphan.spec for orphan in left.values()]
    picked = [*options.chosen(names, world, [*rebuild_state.of_fleet(world), *also]), *(() if names else also)]
    return [orphans.as_built(spec, state(spec.name)) for spec in picked] if left else picked
