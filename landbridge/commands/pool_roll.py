"""`landbridge pool roll`: machines of a pool are replaced by ones with the image that its channel names."""

from datetime import timedelta
from pathlib import Path

import click
from rich.text import Text

from landbridge import tables
from landbridge.cluster import session as sessions
from landbridge.cluster.session import Session
from landbridge.errors import DONE, FAILED, UsageError
from landbridge.output import Output
from landbridge.pool import bounds
from landbridge.pool.listing import named
from landbridge.pool.machines import Look
from landbridge.pool.roll import How, Outcome, Roll, plan, unmark

from . import options
from .durations import Duration
from .options import fleet_option, json_option, local_option


@click.command()
@click.argument("name", metavar="POOL")
@local_option
@fleet_option
@json_option
@click.option("--yes", is_flag=True, help="Machines may go without a question.")
@click.option("--dry-run", is_flag=True, help="Show what would be replaced, and change nothing.")
@click.option("--stop", is_flag=True, help="Give a roll up: older machines take work again.")
@click.option(
    "--fraction",
    type=click.FloatRange(min=0, max=1, min_open=True),
    default=0.1,
    show_default=True,
    help="Which part of the machines may be away at a time; one at least.",
)
@click.option(
    "--deadline",
    type=Duration(),
    default="24h",
    show_default=True,
    help="How long work may run on before it is evicted; counted from when its machine was first to go.",
)
@click.option("--wait/--no-wait", default=True, help="Whether to wait for work to end.  [default: wait]")
@click.option(
    "--timeout",
    "seconds",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="How long a machine may take until it is at work.  [default: 900, on the local cloud 300]",
)
def roll(
    name: str,
    *,
    local: bool,
    fleet_file: Path | None,
    as_json: bool,
    yes: bool,
    dry_run: bool,
    stop: bool,
    fraction: float,
    deadline: timedelta,
    wait: bool,
    seconds: float | None,
) -> int:
    """Replaces machines of a pool in a cloud whose image is not the one that its channel names, or whose launch
    template has a newer version.

    No new work comes to them. Those that run none are replaced, a tenth of the pool at a time, each successor at work
    before the next goes. Work runs on until it ends or its deadline is over, and is then evicted as its disruption
    budgets allow, never deleted. The roll stops at the first machine that does not come, or comes broken; run again, it
    goes on from what is. Exit code 1 when older machines are left.
    """
    if dry_run and stop:
        raise UsageError("--dry-run and --stop exclude each other.")
    world = options.the_fleet(fleet_file)
    bounds.check_roll(world, name)
    session = sessions.opened(world, world.fleet.pools[name].cluster, local=local)
    out = options.output(as_json=as_json)
    if stop:
        return given_up(session, name, out, as_json=as_json)

    def ask(question: str) -> None:
        from landbridge.up import consent  # large, and only asked of those who replace

        if not yes:
            consent.ask(question, out)

    how = How(fraction, deadline, seconds, wait)
    this = Roll(session, name, how, lambda line: out.progress.print(line, markup=False, soft_wrap=True), ask)
    if dry_run:
        look = this.begin()
        planned(this.outcome, look, out, as_json=as_json)
        return DONE
    outcome = this.run()
    if as_json:
        out.document(outcome.as_json())
    else:
        show_outcome(outcome, out)
    return DONE if outcome.done else FAILED


def given_up(session: Session, name: str, out: Output, *, as_json: bool) -> int:
    found = unmark(session, name, forget=True)
    if as_json:
        out.document({"cluster": session.info.name, "pool": name, "released": found})
    elif found:
        out.console.print(f"{named(found)} of {name} take work again.", soft_wrap=True)
    else:
        out.console.print(f"No machine of {name} was to be replaced.", soft_wrap=True)
    return DONE


def planned(outcome: Outcome, look: Look, out: Output, *, as_json: bool) -> None:
    steps = plan(look, outcome.at_a_time)
    if as_json:
        older = {
            name: {"image": look.states[name].image, "older": list(look.states[name].behind), "step": step}
            for name, step in steps.items()
        }
        out.document({**outcome.as_json(), "dry_run": True, "older": older})
        return
    if not steps:
        out.console.print(current(outcome), soft_wrap=True)
        return
    table = tables.plain_table("machine", "image", "older", "what would be done")
    for name, step in steps.items():
        state = look.states[name]
        table.add_row(Text(name, style="bold"), state.image, ", ".join(state.behind), step)
    out.console.print(table)
    out.console.print(
        f"{len(steps)} of {outcome.machines} machines would be replaced by {outcome.name} ({outcome.image}), at most "
        f"{outcome.at_a_time} at a time.",
        soft_wrap=True,
    )


def show_outcome(outcome: Outcome, out: Output) -> None:
    if outcome.replaced:
        out.console.print(
            f"{len(outcome.replaced)} machines of {outcome.pool} replaced by {outcome.name} ({outcome.image}).",
            soft_wrap=True,
        )
    elif outcome.done:
        out.console.print(current(outcome), soft_wrap=True)
    for machine, pods in sorted(outcome.waiting.items()):
        why = f"it runs {named(pods)}" if pods else "it has not had its turn"
        out.console.print(Text(f"  {machine} is left: {why}", style="yellow"), soft_wrap=True)


def current(outcome: Outcome) -> str:
    return (
        f"Nothing to do: every machine of {outcome.pool} has {outcome.name} ({outcome.image}) and the newest template."
    )
