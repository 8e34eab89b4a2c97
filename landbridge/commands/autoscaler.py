"""`landbridge autoscaler`: what the autoscaler does, and why."""

from datetime import UTC, datetime
from pathlib import Path

import click
from rich.text import Text

from landbridge import tables
from landbridge.autoscaler import status as states
from landbridge.errors import DONE, FAILED
from landbridge.output import Output

from . import options
from .autoscaler_why import explain, history
from .options import cluster_option, fleet_option, json_option, local_option

DRY_RUN = "A dry run: what is wanted is what it would ask for. Nothing is bought, and nothing ends."


@click.group()
def autoscaler() -> None:
    """What the autoscaler does, and why."""


autoscaler.add_command(explain)
autoscaler.add_command(history)


@autoscaler.command()
@cluster_option
@local_option
@fleet_option
@json_option
def status(*, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Shows each scaling group as the autoscaler sees it: what is there, what may come, what it waits for.

    Exit code 1 when the autoscaler itself is in trouble.
    """
    session = options.the_cluster(fleet_file, cluster, local=local)
    found = states.look(session.admin, session.world.fleet, session.info.name, datetime.now(UTC))
    out = options.output(as_json=as_json)
    if as_json:
        out.document({"cluster": session.info.name, **found.as_json()})
    else:
        show(found, out)
    return FAILED if found.trouble else DONE


def show(found: states.Status, out: Output) -> None:
    table = tables.plain_table("scaling group", "ready", "wanted", "at most", "what it does")
    for one in found.groups:
        going = f"{one.may_go} may go" if one.may_go else ""
        waits = Text(f"waits: {one.waits}", style="yellow")
        does = waits if one.waits else Text(", ".join(part for part in (one.growth, going) if part))
        table.add_row(Text(one.group, style="bold"), str(one.ready), str(one.target), str(one.room), does)
    if found.groups:
        out.console.print(table)
    for line in found.trouble:
        out.console.print(Text(line, style="red"), soft_wrap=True)
    if found.frozen is not None:
        why = f"Frozen since {found.frozen.get('since')}: {found.frozen.get('why')}. No machine goes."
        out.console.print(Text(why, style="yellow"), soft_wrap=True)
    if found.dry_run:
        out.console.print(Text(DRY_RUN, style="yellow"), soft_wrap=True)
    if found.leader:
        when = f", and wrote at {found.since:%H:%M:%S} UTC" if found.since else ""
        out.console.print(f"{found.leader} leads{when}.", soft_wrap=True)
