"""`landbridge autoscaler explain` and `history`: why pods wait, and what was decided, for a day."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.text import Text

from fleet import autoscaler as identity
from landbridge import tables
from landbridge.autoscaler import explain as explaining
from landbridge.autoscaler import history as histories
from landbridge.autoscaler import notes as day_notes
from landbridge.autoscaler.explain import Explanation, Wait
from landbridge.cluster.session import Session
from landbridge.errors import DONE, LandbridgeError
from landbridge.output import Output

from . import options
from .options import cluster_option, fleet_option, json_option, local_option

# The oldest that there is: 24 hours and the one that has begun.
MOST_HOURS = 25.0


@click.command()
@click.argument("pod")
@click.option("--namespace", metavar="NAME", help="Where the pod is or was, if several have one of that name.")
@cluster_option
@local_option
@fleet_option
@json_option
def explain(
    *, pod: str, namespace: str | None, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool
) -> int:
    """Says why POD waits for a node, or waited, scaling group by scaling group.

    A day later too, when the pod itself is gone.
    """
    session, notes, now = _read(fleet_file, cluster, local=local)
    found = explaining.explained(session.admin, notes, pod, namespace, now)
    out = options.output(as_json=as_json)
    if as_json:
        out.document({"cluster": session.info.name, "noted": notes.last, **found.as_json()})
    else:
        show_pod(found, out)
        _show_stale(notes, now, out)
    return DONE


@click.command()
@click.option(
    "--hours", type=click.FloatRange(0, MOST_HOURS), default=MOST_HOURS, metavar="N", help="The last N; else all."
)
@cluster_option
@local_option
@fleet_option
@json_option
def history(*, hours: float, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool) -> int:
    """Shows what was asked for, refused and ended in the last day, and which pods waited."""
    session, notes, now = _read(fleet_file, cluster, local=local)
    found = histories.lines(notes, now, hours)
    out = options.output(as_json=as_json)
    if as_json:
        lines = [one.as_json() for one in found]
        out.document({"cluster": session.info.name, "since": notes.since, "noted": notes.last, "lines": lines})
    else:
        show_lines(found, out)
        _show_stale(notes, now, out)
    return DONE


def _read(fleet_file: Path | None, cluster: str | None, *, local: bool) -> tuple[Session, day_notes.Notes, datetime]:
    session = options.the_cluster(fleet_file, cluster, local=local)
    if not identity.wanted(session.world.fleet, session.info.name):
        raise LandbridgeError(
            f"Cluster {session.info.name} has no autoscaler: it has no pools of kind gpu or cpu in AWS."
        )
    return session, day_notes.read(session.admin), datetime.now(UTC)


def show_pod(found: Explanation, out: Output) -> None:
    say = out.console.print
    state = {"gone": "is gone"}.get(found.state, f"is {found.state}" + (f" on {found.node}" if found.node else ""))
    of = f", of {found.owner}," if found.owner else ""
    say(Text(f"{found.namespace}/{found.pod}{of} {state}."), soft_wrap=True)
    if found.requests:
        wants = [f"{count} {name}" for name, count in found.requests.items()]
        wants += [f"{key}={value}" for key, value in found.selector.items()]
        say(Text(f"It asks for {', '.join(wants)}."), soft_wrap=True)
    if not found.waits:
        say("Nobody noted that it waited for a node.")
    for wait in found.waits[:-1]:
        codes = dict.fromkeys(cause["code"] for cause in wait.causes if cause["code"] not in explaining.MISFITS)
        say(Text(f"It waited {_times(wait)}: {', '.join(codes) or 'no pool would help'}."), soft_wrap=True)
    for wait in found.waits[-1:]:
        _show_wait(wait, out)
    if found.decisions:
        say("\nMeanwhile:")
        show_lines([histories.line(one) for one in found.decisions], out)


def _times(wait: Wait) -> str:
    return f"from {wait.since:%d %b %H:%M:%S} to {wait.until:%H:%M:%S} UTC"


def _show_wait(wait: Wait, out: Output) -> None:
    say = out.console.print
    say(Text(f"\nIt waited {_times(wait)}:", style="bold"), soft_wrap=True)
    table = tables.plain_table("cause", "scaling groups", "why")
    # Groups that fail alike, and all that back off, are a row.
    alike: dict[tuple[str, str], list[str]] = {}
    for cause in wait.causes:
        until = f" (until {cause['until']:%H:%M:%S})" if cause["until"] else ""
        text = histories.brief(cause["code"].removeprefix("refused-"), cause["text"])
        alike.setdefault((cause["code"], text), []).append(f"{cause['group']}{until}")
    for (code, text), groups in alike.items():
        table.add_row(Text(code, style="bold"), Text("\n".join(groups)), Text(text))
    say(table)
    if wait.message:
        say(Text(f"The scheduler: {wait.message}", style="dim"), soft_wrap=True)
    helps = {cause["code"]: cause["help"] for cause in wait.causes if cause["help"]}
    for code, help_ in helps.items():
        say(Text(f"{code}: {help_}."), soft_wrap=True)


def show_lines(lines: Sequence[histories.Line], out: Output) -> None:
    table = tables.plain_table("when (UTC)", "what", "about", "")
    for one in lines:
        table.add_row(f"{one.at:%d %b %H:%M:%S}", one.what, Text(one.about, style="bold"), Text(one.text))
    out.console.print(table if lines else "Nothing was decided, and no pod waited.")


def _show_stale(notes: day_notes.Notes, now: datetime, out: Output) -> None:
    if notes.last is None:
        out.console.print("The autoscaler's pod has kept no notes yet.")
    if line := explaining.stale(notes, now):
        out.console.print(Text(line, style="dim"), soft_wrap=True)
