"""`landbridge why`: why a pod died, or why it does not start."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from evidence import pods
from evidence.judge import ended_with, judge
from evidence.observation import Json, Observation
from landbridge import render
from landbridge.access.person import Person
from landbridge.cluster import session as sessions
from landbridge.errors import DONE
from landbridge.output import Output
from landbridge.why import ask
from landbridge.why.audit_log import AuditLog
from landbridge.why.case import Case, Looking
from landbridge.why.target import target
from landbridge.why.work import meaning

from . import options
from .options import json_option
from .people import opened, person_options

HOURS = 24.0


@click.command()
@click.argument("what", required=False, metavar="[pod/NAME|run/NAME|job/NAME|node/NAME]")
@click.option("-n", "--namespace", metavar="NAME", help="Where it is or was: your team's own without it.")
@click.option(
    "--hours",
    type=click.FloatRange(0, min_open=True),
    default=HOURS,
    show_default=True,
    metavar="N",
    help="How far back to look in the audit log, for operators.",
)
@person_options
@json_option
def why(*, what: str | None, namespace: str | None, hours: float, as_json: bool, **where: Any) -> int:
    """Says why a pod, run, Job or node died or does not start: the cause, who decided it, the evidence, and what to do.

    Without a name it shows what died last in your team. Of a pod that is gone the audit log
    tells, to operators.
    """
    person = opened(**where, every_team=True)
    out = options.output(as_json=as_json)
    space = namespace or (person.namespace if person.team else "")
    if what is None:
        return _deaths(person, space, out, as_json=as_json)
    wanted = target(what)
    looking = Looking(person.kube, _log(person, where["kubeconfigs"], hours))
    space = space or ask.only_space(person.kube, wanted)
    found = ask.case(looking, wanted, space, hours)
    if as_json:
        out.document({"cluster": person.cluster, **as_document(found)})
    else:
        show(found, out)
    return DONE


def _log(person: Person, kubeconfigs: tuple[Path, ...], hours: float) -> AuditLog | None:
    if kubeconfigs:
        return None
    session = sessions.opened(person.world, person.cluster, local=bool(person.place.cloud))
    now = datetime.now(UTC)
    return AuditLog(session.bucket, session.info, now - timedelta(hours=hours), now)


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
    if found.evidence:
        say("")
        say(table(case, found.evidence))
    for one in case.blind:
        say(Text(f"Not looked at: {one}.", style="dim"), soft_wrap=True)


def table(case: Case, evidence: Sequence[Observation]) -> Table:
    shown = render.plain_table("when (UTC)", "who says so", "what")
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


def _deaths(person: Person, space: str, out: Output, *, as_json: bool) -> int:
    found = ask.deaths(person.kube, f"--namespace={space}" if space else "--all-namespaces")
    rows = [(pod, judge(pods.of_pod(pod))) for pod in found]
    if as_json:
        listed = [{"pod": _title(pod), **one.as_json()} for pod, one in rows]
        out.document({"cluster": person.cluster, "deaths": listed})
        return DONE
    if not rows:
        out.console.print(f"No pod that is still there has failed in {space or 'any namespace'}.")
        return DONE
    shown = render.plain_table("when (UTC)", "pod", "why")
    for pod, one in rows:
        at = datetime.fromtimestamp(ask.ended(pod), UTC)
        name = pod["metadata"]["name"] if space else _title(pod)
        shown.add_row(f"{at:%d %b %H:%M:%S}", Text(name, style="bold"), Text(one.sentence))
    out.console.print(shown)
    out.console.print("`landbridge why pod/NAME` says more of one.")
    return DONE


def _title(pod: Json) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
