"""`landbridge usage`: whose the GPU hours were."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from fleet import recorder
from fleet.model import Fleet
from fleet.prices import Price
from fleet.team_storage import namespace
from landbridge import tables
from landbridge.access.person import Person
from landbridge.errors import DONE, LandbridgeError
from landbridge.output import Output
from landbridge.prices import age
from landbridge.usage import activity
from landbridge.usage.account import TABLES, Account, Row, account, gpu_prices
from landbridge.usage.held import of_deaths, of_pods, within
from landbridge.usage.picture import svg, told
from landbridge.usage.scale_down import NODE, Gone, Saved, ScaleDown, of_nodes, scale_down
from landbridge.why import opened as why_opened
from landbridge.why.looking import Looking
from landbridge.why.report import ended

from . import options
from .options import json_option
from .people import opened, person_options

DAYS = float(recorder.DAYS)
# Of each table; the rest is in --json.
MOST_ROWS = 10
NOT_KNOWN = "-"


@click.command()
@click.option(
    "--days",
    type=click.FloatRange(0, DAYS, min_open=True),
    default=DAYS,
    show_default=True,
    metavar="N",
    help="How far back.",
)
@click.option("--picture", type=click.Path(path_type=Path), metavar="FILE", help="As an SVG, too.")
@person_options
@json_option
def usage(*, days: float, picture: Path | None, as_json: bool, **where: Any) -> int:
    """Shows GPU hours by team, person, run and pool: held, lost with what ended early, at work, and what they cost.

    People see their own team's, operators all, or with --team one team's.
    """
    out = options.output(as_json=as_json)
    person = opened(**where, every_team=True)
    looking = why_opened.looking(person, 0, days)
    looking.records.say = lambda line: out.progress.print(line, style="dim")
    made = _account(person, looking, days)
    if picture:
        options.save(picture, svg(person.cluster, made), "--picture")
    by = priced_by(person.world.fleet, made)
    if as_json:
        shown = {**made.as_json(), "prices": age.as_json(by, age.today())}
        out.document({"cluster": person.cluster, **shown, "not_looked_at": [*looking.blind]})
        return DONE
    _show(made, looking, out)
    if dated := age.line(by, age.today()):
        out.console.print(dated, soft_wrap=True)
    if picture:
        out.console.print(f"The picture is in {picture}.")
    return DONE


def priced_by(fleet: Fleet, made: Account) -> list[Price]:
    """Of the pools in its tables."""
    saving = [row.name for row in made.scale_down.pools] if made.scale_down else []
    return age.of_pools(fleet, [*(row.name for row in made.tables["pools"]), *saving])


def _account(person: Person, looking: Looking, days: float) -> Account:
    now = datetime.now(UTC)
    since, space = (now - timedelta(days=days)).timestamp(), namespace(person.team) if person.team else ""
    where = f"--namespace={space}" if space else "--all-namespaces"
    pods, nodes = looking.api.items("pods", where, "pods"), looking.api.items("nodes", "--all-namespaces", "nodes")
    went, records = Gone(), looking.records
    found = ended(records, lambda day: went.hear(records.about(NODE, [day])))
    were = of_deaths(one for one in found if space in ("", one.pod["metadata"]["namespace"]))
    held = within(of_pods(pods, nodes, now.timestamp()), were, since)
    gaps = records.gaps(since, now.timestamp())
    active, fleet = _active(person, looking, days), person.world.fleet
    made = account(held, since, now.timestamp(), gpu_prices(fleet), active, gaps)
    if space:
        return made
    machines = [*went.machines(), *of_nodes(nodes, now.timestamp())]
    return made._replace(scale_down=scale_down(machines, fleet, since, now.timestamp(), gaps))


def _active(person: Person, looking: Looking, days: float) -> dict[str, float]:
    """People have no right to enter Prometheus: who measures sees every team."""
    if person.session is None:
        looking.blind["how much of them worked, which is for operators"] = None
        return {}
    try:
        return activity.by_team(person.session.admin, days)
    except LandbridgeError as error:
        looking.blind[f"how much of them worked: {str(error).partition('. ')[0].rstrip('.')}"] = None
        return {}


def _show(made: Account, looking: Looking, out: Output) -> None:
    say = out.console.print
    say(f"{told(made)}.")
    if made.unpriced_gpu_hours and made.dollars:
        say(f"Of {made.unpriced_gpu_hours:,.1f} of them, at sites or of types without a price, the cost is not known.")
    for name in TABLES:
        if made.tables[name]:
            say("")
            say(table(name, made.tables[name]))
    if made.scale_down and made.scale_down.pools:
        say("")
        say(saved_table(made.scale_down.pools))
        say(saved(made.scale_down))
    for gap in made.gaps:
        times = f"{gap.since:%d %b %H:%M} to {gap.until:%d %b %H:%M} UTC"
        say(Text(f"Not known: what ended {times}: {gap.why}.", style="dim"))
    for blind in looking.blind:
        say(Text(f"Not looked at: {blind}.", style="dim"), soft_wrap=True)


def saved(made: ScaleDown) -> str:
    """In a line; of no money where no price is known."""
    money = f", {made.dollars:,.0f} US dollars" if made.dollars else ""
    return (
        f"Saved by scale-down: {made.machine_hours:,.1f} machine hours{money}, against the most machines of each pool "
        f"held for all of {made.hours:,.1f} hours."
    )


def saved_table(rows: Sequence[Saved]) -> Table:
    columns = {
        "most machines": [str(row.most) for row in rows],
        "machine hours": [f"{row.machine_hours:,.1f}" for row in rows],
        "saved": [f"{row.saved_machine_hours:,.1f}" for row in rows],
        "GPU hours saved": [f"{row.saved_gpu_hours:,.1f}" if row.saved_gpu_hours else NOT_KNOWN for row in rows],
        "US dollars saved": [NOT_KNOWN if row.saved_dollars is None else f"{row.saved_dollars:,.0f}" for row in rows],
    }
    return _shown("scale-down", [row.name for row in rows], columns)


def table(name: str, rows: Sequence[Row]) -> Table:
    """Columns of which no row has anything are left out."""
    columns = {
        "GPU hours": [f"{row.gpu_hours:,.1f}" for row in rows],
        "lost": [f"{row.lost_gpu_hours:,.1f}" for row in rows],
        "at work": [NOT_KNOWN if row.active is None else f"{row.active:.0%}" for row in rows],
        "US dollars": [NOT_KNOWN if row.dollars is None else f"{row.dollars:,.0f}" for row in rows],
    }
    return _shown(name, [row.name for row in rows], columns)


def _shown(title: str, names: Sequence[str], columns: Mapping[str, Sequence[str]]) -> Table:
    having = {head: cells for head, cells in columns.items() if {*cells} != {NOT_KNOWN}}
    shown = tables.plain_table(title, *having, right=having)
    for number, name in enumerate(names[:MOST_ROWS]):
        shown.add_row(Text(name, style="bold"), *(cells[number] for cells in having.values()))
    if (more := len(names) - MOST_ROWS) > 0:
        shown.add_row(Text(f"{more} more in --json", style="dim"))
    return shown
