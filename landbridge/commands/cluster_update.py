"""`landbridge cluster update`: another version of Kubernetes, from the fleet file to the last machine of a pool."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from landbridge import tables
from landbridge.cluster.session import Session
from landbridge.errors import DONE, FAILED
from landbridge.kubernetes_update import observed, versions
from landbridge.kubernetes_update.checks import Check, checks
from landbridge.kubernetes_update.run import How, Update, UpdateError, left
from landbridge.kubernetes_update.steps import Step
from landbridge.output import Output
from local import kubernetes

from . import options
from .durations import Duration
from .options import fleet_option, json_option, local_option

STYLES = {"done": "green", "to do": "", "waits": "yellow", "people": "yellow"}


@click.command()
@click.argument("name", required=False, metavar="[CLUSTER]")
@local_option
@fleet_option
@json_option
@click.option("--to", "asked", metavar="VERSION", help="As 1.36.2.  [default: the newest patch, else the next minor]")
@click.option("--check", "only_look", is_flag=True, help="Show what stands against it and what would be done.")
@click.option("--yes", is_flag=True, help="Without a question.")
@click.option("--any-time", is_flag=True, help="Windows and frozen days of the fleet file are not asked.")
@click.option("--wait/--no-wait", default=False, help="Wait for windows, and for work to end.  [default: no-wait]")
@click.option(
    "--fraction",
    type=click.FloatRange(min=0, max=1, min_open=True),
    help="Which part of a pool's machines may be away at a time.  [default: maintenance.share]",
)
@click.option(
    "--deadline",
    type=Duration(),
    default="24h",
    show_default=True,
    help="How long work on pools' machines may run on before it is evicted.",
)
def update(
    name: str | None,
    *,
    local: bool,
    fleet_file: Path | None,
    as_json: bool,
    asked: str | None,
    only_look: bool,
    yes: bool,
    any_time: bool,
    wait: bool,
    fraction: float | None,
    deadline: timedelta,
) -> int:
    """Brings a cluster to another version of Kubernetes: the fleet file, the control plane, then add-ons and pools.

    It first looks at what stands against it, and changes nothing then. Machines of the control plane are replaced one
    at a time, each healthy before the next; pools a part at a time, and what works there is told and has its time. Each
    begins in its window alone. Interrupted, or stopped, it goes on from what is when it is run again. Exit code 1 when
    something is left.
    """
    if local and asked in kubernetes.VERSIONS:
        # Building takes the network, which nothing inside of the local cloud has.
        from landbridge.local.kubernetes import build_version

        build_version(asked)
    out = options.output(as_json=as_json)

    def again() -> Session:
        return options.the_cluster(fleet_file, name, local=local)

    def tell(line: str) -> None:
        out.progress.print(line, markup=False, soft_wrap=True)

    def up(stacks: Sequence[str]) -> None:
        brought_up(stacks, fleet_file, local=local, as_json=as_json)

    session = again()
    target = versions.chosen(*observed.for_choice(session), asked)
    how = How(wait, any_time, fraction or session.world.fleet.maintenance.share, deadline)
    this = Update(again, target, how, tell, up)
    session, machines, todo = this.look()
    found = checks(observed.for_checks(session, target, machines))
    document = {
        "cluster": session.info.name,
        "from": session.info.kubernetes,
        "to": target,
        "checks": [one.as_json() for one in found],
    }
    if not as_json:
        show_checks(document, found, out)
        show_steps(todo, out)
    if not only_look and left(todo):
        agreed(document, found, short(deadline, session.world.fleet.maintenance.notice_minutes), out, yes=yes)
        todo = this.run()
        show_end(todo, session.info.name, target, out)
    if as_json:
        out.document({**document, "steps": [one.as_json() for one in todo]})
    return FAILED if left(todo) and (not only_look or against(found)) else DONE


def against(found: Sequence[Check]) -> list[Check]:
    return [one for one in found if one.stops and not one.well]


def short(deadline: timedelta, notice_minutes: float) -> str:
    """What whoever works on a pool should not have to learn afterwards; empty where they have their notice."""
    if deadline >= timedelta(minutes=notice_minutes):
        return ""
    has = deadline.total_seconds() / 60
    return f" Work on machines of pools has {has:.4g} min, less than the {notice_minutes:.4g} min of the fleet file."


def agreed(document: dict[str, Any], found: Sequence[Check], less: str, out: Output, *, yes: bool) -> None:
    """Raises UpdateError where something stands against it, and ConsentError."""
    if stops := against(found):
        what = "\n".join(f"  {one.what}: {'; '.join(one.found)}. {one.remedy}." for one in stops)
        error = UpdateError(f"Nothing was changed: this stands against Kubernetes {document['to']}.\n{what}")
        error.document = document
        raise error
    if not yes:
        from landbridge.up import consent  # large, and only asked of those who change something

        consent.ask(f"Kubernetes {document['to']} on {document['cluster']}.{less} Go on?", out)


def brought_up(stacks: Sequence[str], fleet_file: Path | None, *, local: bool, as_json: bool) -> None:
    """As `landbridge up` does it. Raises UpdateError and ConsentError."""
    from . import update as fleet_update  # Pulumi's engine: large

    run, report = fleet_update.prepare("up", tuple(stacks), local=local, fleet_file=fleet_file, as_json=as_json)
    # The document for machines is that of the whole update.
    report.out = report.out._replace(as_json=False)
    fleet_update.bring_up(run, report, {}, yes=True)
    if report.end() != DONE:
        raise UpdateError(f"The update stops: {', '.join(stacks)} did not come up. It goes on when it is run again.")


def show_checks(head: dict[str, Any], found: Sequence[Check], out: Output) -> None:
    table = tables.plain_table("check", "found", title=f"Kubernetes {head['from']} → {head['to']} on {head['cluster']}")
    for one in found:
        if one.well:
            table.add_row(one.what, Text("nothing", style="green"))
        for number, what in enumerate(one.found):
            table.add_row("" if number else one.what, Text(what, style="red" if one.stops else "yellow"))
        if not one.well:
            table.add_row("", Text(one.remedy, style="dim"))
    out.console.print(table)
    out.console.print()


def show_steps(found: Sequence[Step], out: Output) -> None:
    table = tables.plain_table("step", "state", "what")
    for number, one in enumerate(found, 1):
        table.add_row(str(number), Text(state(one), style=STYLES[one.state]), one.words)
    out.console.print(table)


def state(one: Step) -> str:
    return f"opens {one.opens:%Y-%m-%d %H:%M %Z}" if one.opens else one.state


def show_end(found: Sequence[Step], cluster: str, target: str, out: Output) -> None:
    over = left(found)
    for one in over:
        out.console.print(Text(f"  {state(one)}: {one.words}", style=STYLES[one.state]), soft_wrap=True)
    if over:
        out.console.print(f"{len(over)} steps are left; `landbridge cluster update {cluster}` goes on.", soft_wrap=True)
    else:
        out.console.print(f"All of {cluster} runs Kubernetes {target}.")
