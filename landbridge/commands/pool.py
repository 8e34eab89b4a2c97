"""`landbridge pool`: how pools are, and their sizes by hand. Rolling is in pool_roll.py."""

from pathlib import Path

import click
from rich.text import Text

from landbridge import tables
from landbridge.cluster import session as sessions
from landbridge.errors import DONE, FAILED
from landbridge.output import Output
from landbridge.pool import bounds
from landbridge.pool.images import Run
from landbridge.pool.listing import State, look
from landbridge.pool.resize import Outcome, Resize

from . import options
from .options import cluster_option, fleet_option, json_option, local_option
from .pool_roll import roll

PODS_SHOWN = 3


@click.group()
def pool() -> None:
    """The pools of a cluster: how they are, their sizes by hand, and newer images for them."""


pool.add_command(roll)


@pool.command("list")
@cluster_option
@local_option
@fleet_option
@json_option
def list_(*, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Shows each pool: its machines, its Ready nodes, its GPUs and what pods ask of them, and what ails it.

    Below, which image its channel names, and how many of its machines run an older one.
    """
    session = options.the_cluster(fleet_file, cluster, local=local)
    out = options.output(as_json=as_json)
    states = look(session)
    if as_json:
        out.document({"cluster": session.info.name, "pools": [state.as_json() for state in states]})
    else:
        show(states, out)
    return DONE


@pool.command()
@click.argument("name", metavar="POOL")
@click.argument("number", type=click.IntRange(min=0))
@local_option
@fleet_option
@json_option
@click.option("--yes", is_flag=True, help="Machines may go without a question.")
@click.option("--wait/--no-wait", default=True, help="Whether to wait until new machines are at work.  [default: wait]")
@click.option(
    "--timeout",
    "seconds",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="How long to wait.  [default: 900, on the local cloud 300]",
)
def size(
    name: str,
    number: int,
    *,
    local: bool,
    fleet_file: Path | None,
    as_json: bool,
    yes: bool,
    wait: bool,
    seconds: float | None,
) -> int:
    """Brings a pool in a cloud to NUMBER machines, within its min and max.

    It grows evenly over its zones, leaving out those whose launches just failed. It shrinks by idle machines alone,
    newest first: a machine where a pod runs that is no DaemonSet's stays, and is named. Exit code 1 when fewer went
    than were asked for, or new ones did not come in time.
    """
    world = options.the_fleet(fleet_file)
    bounds.check(world, name, number)
    session = sessions.opened(world, world.fleet.pools[name].cluster, local=local)
    out = options.output(as_json=as_json)

    def ask(question: str) -> None:
        from landbridge.up import consent  # large, and only asked of those who shrink

        if not yes:
            consent.ask(question, out)

    this = Resize(session, name, lambda line: out.progress.print(line, markup=False, soft_wrap=True), ask)
    outcome = this.run(number, wait=wait, seconds=seconds)
    if as_json:
        out.document(outcome.as_json())
    else:
        show_outcome(outcome, out)
    return DONE if outcome.done else FAILED


def show_outcome(outcome: Outcome, out: Output) -> None:
    gone = f" {len(outcome.removed)} went." if outcome.removed else ""
    ready = f", {outcome.ready} of them at work" if outcome.ready is not None else ""
    if outcome.done:
        out.console.print(f"{outcome.pool} has {outcome.machines} machines{ready}.{gone}", soft_wrap=True)
        return
    out.console.print(f"{outcome.pool} has {outcome.machines} machines, not {outcome.number}.{gone}", soft_wrap=True)
    for machine, pods in sorted(outcome.busy.items()):
        more = f" and {len(pods) - PODS_SHOWN} more" if len(pods) > PODS_SHOWN else ""
        line = f"  {machine} stays: it runs {', '.join(pods[:PODS_SHOWN])}{more}"
        out.console.print(Text(line, style="yellow"), soft_wrap=True)
    if outcome.busy:
        out.console.print("`landbridge kubectl drain MACHINE` ends work on one by its rules; then run this again.")
    else:
        out.console.print("Each of its zones keeps the machines that it has at least.", soft_wrap=True)


def show(states: list[State], out: Output) -> None:
    # Eighty columns, troubles below: a terminal is seldom wider.
    columns = ("pool", "kind", "place", "machines", "sizes", "Ready", "GPUs used")
    table = tables.plain_table(*columns, right=("Ready",))
    for state in states:
        table.add_row(
            Text(state.pool, style="bold"),
            state.kind,
            state.place,
            machines(state),
            "" if state.site else f"{state.min}-{state.max}",
            "" if state.ready is None else str(state.ready),
            f"{state.gpus_used} of {state.gpus}" if state.gpus else "",
        )
    out.console.print(table)
    for state in states:
        if state.image:
            out.console.print(Text.assemble((f"{state.pool}: ", "bold"), *image(state.image)), soft_wrap=True)
    for state in states:
        for trouble in state.trouble:
            out.console.print(Text.assemble((f"{state.pool}: ", "bold yellow"), trouble), soft_wrap=True)


def image(run: Run) -> list[str | tuple[str, str]]:
    """What a channel names, and how many run another."""
    if not run.id:
        return [(f"nothing is promoted to {run.parameter}", "yellow")]
    text = f"{run.channel} is {run.name}" + (f" ({run.id})" if run.name != run.id else "")
    others = ", ".join(f"{number} {name}" for name, number in sorted(run.machines.items()) if name != run.name)
    return [text, *([(f"; {run.older} run an older one: {others}", "yellow")] if run.older else [])]


def machines(state: State) -> str:
    """Those that there are, and those that there should be where that differs."""
    if state.desired is None:
        return "unknown"
    if state.running is None:
        return f"{state.desired} hosts"
    if state.site:
        return f"{state.running} of {state.desired} hosts"
    return str(state.running) if state.running == state.desired else f"{state.running} of {state.desired}"
