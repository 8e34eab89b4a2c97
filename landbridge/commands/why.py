"""`landbridge why`: why a pod died, or why it does not start."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from evidence.judge import ended_with
from evidence.observation import Observation
from evidence.record import LAST_LINES
from fleet import recorder, team_storage
from landbridge import tables
from landbridge.cluster import session as sessions
from landbridge.errors import DONE, LandbridgeError, UsageError
from landbridge.output import Output
from landbridge.why import ask
from landbridge.why import opened as why_opened
from landbridge.why.case import Case
from landbridge.why.looking import Looking
from landbridge.why.picture import svg
from landbridge.why.report import TABLES, report
from landbridge.why.target import target
from landbridge.why.work import meaning

from . import options
from .options import json_option
from .people import opened, person_options

HOURS, DAYS = 24.0, float(recorder.DAYS)
MOST_DEATHS = 20


@click.command()
@click.argument("what", required=False, metavar="[pod/NAME|run/NAME|job/NAME|node/NAME]")
@click.option("-n", "--namespace", metavar="NAME", help="Where it is or was: your team's own without it.")
@click.option(
    "--days",
    type=click.FloatRange(0, DAYS, min_open=True),
    default=DAYS,
    show_default=True,
    metavar="N",
    help="How far back to look for what is gone.",
)
@click.option(
    "--hours",
    type=click.FloatRange(0, min_open=True),
    default=HOURS,
    show_default=True,
    metavar="N",
    help="How far back to look in the audit log where the recorder has nothing, for operators.",
)
@click.option("--report", "as_report", is_flag=True, help="What ended in all that time: by cause, team, pool, board.")
@click.option("--picture", type=click.Path(path_type=Path), metavar="FILE", help="The report as an SVG, too.")
@person_options
@json_option
def why(
    *,
    what: str | None,
    namespace: str | None,
    days: float,
    hours: float,
    as_report: bool,
    picture: Path | None,
    as_json: bool,
    **where: Any,
) -> int:
    """Says why a pod, run, Job or node died or does not start: the cause, who decided it, the evidence, and what to do.

    Also when it is gone: what ends is recorded for 30 days. Without a name it shows what died last in your team.
    """
    if as_report and what:
        raise UsageError(f"--report is about all that ended. Leave out {what}, or leave out --report.")
    if picture and not as_report:
        raise UsageError(f"--picture is the report's. Write `landbridge why --report --picture {picture}`.")
    out = options.output(as_json=as_json)
    looking, cluster, team = _opened(hours, days, **where)
    looking.records.say = lambda line: out.progress.print(line, style="dim")
    space = namespace or (team_storage.namespace(team) if team else "")
    if as_report:
        return _report(looking, cluster, space, picture, out)
    if what is None:
        return _deaths(looking, cluster, space, out)
    wanted = target(what)
    space = space or ask.only_space(looking, wanted)
    found = ask.case(looking, wanted, space, days)
    if as_json:
        out.document({"cluster": cluster, **as_document(found)})
    else:
        show(found, out)
    return DONE


def _opened(hours: float, days: float, **where: Any) -> tuple[Looking, str, str]:
    """Also of a cluster that is not up, or in the fleet file no more, for operators: with its name and the team."""
    try:
        person = opened(**where, every_team=True)
    except UsageError:
        if found := _left_the_file(days, **where):
            return found, where["cluster"], where["team"] or ""
        raise
    except LandbridgeError as error:
        if where["kubeconfigs"]:
            raise
        world = options.the_fleet(where["fleet_file"])
        cluster = sessions.chosen(world.fleet, world.path, where["cluster"])
        place = sessions.the_place(world, local=where["local"])
        found = why_opened.without_cluster(world, place, cluster, days, str(error))
        return found, cluster, where["team"] or ""
    return why_opened.looking(person, hours, days), person.cluster, person.team


def _left_the_file(days: float, **where: Any) -> Looking | None:
    world, cluster = options.the_fleet(where["fleet_file"]), where["cluster"]
    if cluster is None or cluster in world.fleet.clusters or where["kubeconfigs"]:
        return None
    place = sessions.the_place(world, local=where["local"])
    return why_opened.without_entry(world, place, cluster, days)


def as_document(case: Case) -> dict[str, Any]:
    said = {"kind": case.kind, "name": case.name, "phase": case.phase, "node": case.node, "for_the_work": meaning(case)}
    return {**said, **case.verdict.as_json(), "not_looked_at": [*case.blind]}


def show(case: Case, out: Output) -> None:
    found = case.verdict
    say = out.console.print
    on = f" ran on {case.node} and" if case.node else ""
    say(Text(f"{case.name}{on} is {case.phase}."), soft_wrap=True)
    say(Text(f"\n{found.sentence}", style="bold"), soft_wrap=True)
    if found.followed:
        say(Text("What followed: " + " ".join(one.sentence for one in found.followed)), soft_wrap=True)
    say(Text(meaning(case)), soft_wrap=True)
    say(Text(found.advice), soft_wrap=True)
    if seen := [one for one in found.evidence if one.code != LAST_LINES]:
        say("")
        say(table(case, seen))
    for lines in [one for one in found.evidence if one.code == LAST_LINES]:
        say(Text(f"\nThe last lines of container {lines.facts['container']}, before {_when(lines)}:", style="bold"))
        say(Text(lines.text.rstrip("\n")), soft_wrap=True)
    for one in case.blind:
        say(Text(f"Not looked at: {one}.", style="dim"), soft_wrap=True)


def table(case: Case, evidence: Sequence[Observation]) -> Table:
    shown = tables.plain_table("when (UTC)", "who says so", "what")
    for one in evidence:
        shown.add_row(_when(one), Text(one.source), Text(_said(case, one)))
    return shown


def _when(one: Observation) -> str:
    return f"{datetime.fromtimestamp(one.at, UTC):%d %b %H:%M:%S}" if one.at else ""


def _said(case: Case, one: Observation) -> str:
    """Of what is asked about, or by its name of what else it is about."""
    kind, _, rest = one.about.partition("/")
    name = rest.rpartition("/")[2]
    of = "" if name == case.thing["metadata"]["name"] else f"{kind}/{name} "
    container = f" ({one.facts['container']})" if "container" in one.facts else ""
    code = f" with {ended_with(one.facts)}" if "exit_code" in one.facts else ""
    words = " ".join(one.text.split())
    return f"{of}{one.code}{container}{code}" + (f": {words}" if words else "")


def _deaths(looking: Looking, cluster: str, space: str, out: Output) -> int:
    found = looking.deaths(space, timedelta(hours=HOURS))
    if out.as_json:
        out.document({"cluster": cluster, "deaths": [{"pod": one.title, **one.verdict.as_json()} for one in found]})
        return DONE
    if not found:
        out.console.print(f"No pod has failed in {space or 'any namespace'} in the last {HOURS:g} hours.")
    else:
        shown = tables.plain_table("when (UTC)", "pod", "why")
        for one in found[:MOST_DEATHS]:
            name = one.pod["metadata"]["name"] if space else one.title
            at = datetime.fromtimestamp(one.at, UTC)
            shown.add_row(f"{at:%d %b %H:%M:%S}", Text(name, style="bold"), Text(one.verdict.sentence))
        out.console.print(shown)
        more = len(found) - MOST_DEATHS
        out.console.print(
            (f"{more} more are in `--json`. " if more > 0 else "") + "`landbridge why pod/NAME` says more of one."
        )
    for blind in looking.blind:
        out.console.print(Text(f"Not looked at: {blind}.", style="dim"), soft_wrap=True)
    return DONE


def _report(looking: Looking, cluster: str, space: str, picture: Path | None, out: Output) -> int:
    made = report(looking.records, space)
    if picture:
        options.save(picture, svg(cluster, made), "--picture")
    if out.as_json:
        out.document({"cluster": cluster, **made.as_json()})
        return DONE
    share = f"{made.named:.0%} of them with a known cause"
    out.console.print(
        f"{made.deaths} pods ended that should not have, {share}; {made.gpu_hours:,.1f} GPU hours. "
        f"{made.well} ended as they should."
    )
    for name in TABLES:
        if rows := getattr(made, name):
            shown = tables.plain_table(name, "deaths", "GPU hours", right=("deaths", "GPU hours"))
            for row in rows:
                shown.add_row(Text(row.name, style="bold"), str(row.deaths), f"{row.gpu_hours:,.1f}")
            out.console.print("")
            out.console.print(shown)
    for gap in made.gaps:
        times = f"{gap.since:%d %b %H:%M} to {gap.until:%d %b %H:%M} UTC"
        out.console.print(Text(f"Not known: {times}: {gap.why}.", style="dim"))
    if picture:
        out.console.print(f"The picture is in {picture}.")
    return DONE
