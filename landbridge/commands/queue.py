"""`landbridge queue`: who runs, who waits, and why."""

from datetime import UTC, datetime
from typing import Any

import click
from rich.text import Text

from landbridge import tables
from landbridge.errors import DONE, UsageError
from landbridge.output import Output
from landbridge.queue.look import look
from landbridge.queue.runs import Queues, Run

from . import options
from .options import cluster_option, fleet_option, json_option, local_option
from .people import kubeconfig_option, opened

COLOURS = {"runs": "green", "starts": "cyan", "waits": "yellow", "stopped": "red"}


@click.command()
@cluster_option
@local_option
@fleet_option
@kubeconfig_option
@json_option
@click.option("--team", metavar="TEAM", help="Only this team's runs.  [default: all that you may see]")
def queue(*, as_json: bool, team: str | None, **where: Any) -> int:
    """Shows the queues of a cluster: what teams own and hold, what places have free, and runs.

    Operators see every run, others those of their team.

    A run that waits says how many of its team are before it, since when it waits, and what is short.
    """
    person = opened(**where, team=None, every_team=True)
    found, out = look(person), options.output(as_json=as_json)
    if team is not None:
        if team not in {share.team for share in found.shares}:
            known = ", ".join(share.team for share in found.shares)
            raise UsageError(f"Team {team} has no queue in {person.cluster}. Teams with one: {known}.")
        found = found._replace(runs=[run for run in found.runs if run.team == team])
    if as_json:
        out.document({"cluster": person.cluster, **found.as_json()})
    else:
        show(found, out, datetime.now(UTC))
    return DONE


def show(found: Queues, out: Output, now: datetime) -> None:
    teams = tables.plain_table("team", "owns", "may borrow", "holds", "waiting", right=("owns", "holds", "waiting"))
    for share in found.shares:
        borrows = "all" if share.may_borrow is None else str(share.may_borrow)
        teams.add_row(Text(share.team, style="bold"), str(share.owns), borrows, str(share.holds), str(share.waiting))
    places = tables.plain_table("place", "GPUs", "held", "free", right=("GPUs", "held", "free"))
    for place in found.places:
        places.add_row(Text(place.place, style="bold"), str(place.gpus), str(place.held), str(place.free))
    table = tables.plain_table("run", "team", "priority", "GPUs", "", "since", "why", right=("GPUs",))
    for run in found.runs:
        table.add_row(*row(run, now))
    for one in (teams, places):
        out.console.print(one)
        out.console.print()
    out.console.print(table if found.runs else "Nobody runs, and nobody waits.")


def row(run: Run, now: datetime) -> list[Text | str]:
    state = f"{run.state} in {run.place}" if run.place else run.state
    before = f"{run.ahead} before it; " if run.ahead else ""
    since = tables.age((now - run.since).total_seconds())
    colour = COLOURS[run.state]
    why = Text(f"{before}{run.why}")
    return [Text(run.name, style="bold"), run.team, run.priority, str(run.gpus), Text(state, style=colour), since, why]
