"""`landbridge alarms`: what is wrong with a cluster just now, as its rules see it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from landbridge import tables
from landbridge.errors import DONE
from landbridge.monitoring.alarms import Alarm, on, runbooks

from . import options
from .options import cluster_option, fleet_option, json_option, local_option, together

COLOURS = {"page": "red", "ticket": "yellow"}


@click.command()
@together(cluster_option, local_option, fleet_option, json_option)
def alarms(*, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Shows alarms that are on: what is wrong, since when, and whose it is. The worst come first."""
    session, out = options.the_cluster(fleet_file, cluster, local=local), options.output(as_json=as_json)
    found = on(session.admin)
    todo = runbooks(session.world.fleet.monitoring)
    if as_json:
        told = [{**one.as_json(), "runbook": todo.get(one.name, "")} for one in found]
        out.document({"cluster": session.info.name, "alarms": told})
    elif found:
        out.console.print(table(found, todo, datetime.now(UTC)))
    else:
        out.console.print(f"No alarm is on in {session.info.name}.")
    return DONE


def table(found: Sequence[Alarm], todo: Mapping[str, str], now: datetime) -> Table:
    shown = tables.plain_table("alarm", "", "since", "whose", "about", "what to do")
    for one in found:
        about = ", ".join(f"{name} {value}" for name, value in sorted(one.about.items()))
        since = tables.age((now - one.since).total_seconds())
        severity, page = Text(one.severity, COLOURS[one.severity]), todo.get(one.name, "")
        shown.add_row(one.name, severity, since, one.owner, about, page)
    return shown
