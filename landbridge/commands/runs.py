"""`landbridge runs` and `stop`: what has become of runs."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import click
from rich.text import Text

from landbridge import tables
from landbridge.access.person import Person
from landbridge.completion import seen_runs
from landbridge.errors import DONE, UsageError
from landbridge.experiments import ending, look
from landbridge.experiments.again import again as repeated
from landbridge.experiments.manifest import PART, RANK
from landbridge.experiments.move import move as moved
from landbridge.experiments.states import RunState
from landbridge.experiments.store import Records
from landbridge.output import Output
from landbridge.prices import age

from . import options
from .options import json_option
from .people import opened, person_options
from .run import followed

COLOURS = {"runs": "green", "starts": "cyan", "waits": "yellow", "stopped": "red", "done": "dim", "failed": "red"}


@click.group(invoke_without_command=True)
@person_options
@json_option
@click.option("--all", "everybody", is_flag=True, help="Of the whole team; operators see all teams.")
def runs(*, everybody: bool, as_json: bool, team: str | None, **where: Any) -> int:
    """Shows your runs of the last week: their state, where, since when, GPU hours and cost so far."""
    if click.get_current_context().invoked_subcommand is not None:
        return DONE
    person = opened(**where, team=team, every_team=everybody and team is None)
    found = look.runs(person)
    seen_runs.note(person.world.path, [one.name for one in found])
    if not everybody:
        found = [one for one in found if one.person == person.name]
    out = options.output(as_json=as_json)
    if as_json:
        out.document({"cluster": person.cluster, "runs": [one.as_json() for one in found]})
        return DONE
    if not found:
        whose = "nobody has run" if everybody else "you have run"
        out.console.print(f"In the last week {whose} nothing here. `landbridge run --gpus 8 -- COMMAND` begins.")
        return DONE
    table(found, out, datetime.now(UTC))
    places, fleet = {one.place for one in found}, person.world.fleet
    pools = (name for name, pool in fleet.pools.items() if pool.gpus and pool.region in places)
    if dated := age.line(age.of_pools(fleet, pools), age.today()):
        out.console.print(dated, soft_wrap=True)
    return DONE


def table(found: Sequence[RunState], out: Output, now: datetime) -> None:
    shown = tables.plain_table(
        "run", "who", "GPUs", "", "since", "GPU hours", "cost", "why", right=("GPUs", "GPU hours", "cost")
    )
    for one in found:
        state = f"{one.phase} in {one.place}" if one.place and one.phase in ("starts", "runs") else one.phase
        ahead = f"{one.ahead} before it; " if one.ahead else ""
        cost = "?" if one.usd is None else f"${one.usd:,.2f}"
        shown.add_row(
            Text(one.name, style="bold"),
            one.person,
            str(one.gpus),
            Text(state, style=COLOURS[one.phase]),
            tables.age((now - one.since).total_seconds()),
            f"{one.gpu_hours:.1f}",
            cost,
            Text(f"{ahead}{one.why}"),
        )
    out.console.print(shown)


@runs.command()
@click.argument("name", metavar="RUN")
@person_options
@json_option
def show(name: str, *, as_json: bool, **where: Any) -> int:
    """Shows all that is known of RUN: its state and hosts, and what it can be repeated from."""
    person = opened(**where)
    state, record = look.run(person, name), Records(person).read(name)
    hosts = [one_host(pod) for pod in look.pods(person, name)] if state else []
    out = options.output(as_json=as_json)
    if as_json:
        out.document({**record, "state": state.as_json() if state else None, "pods": hosts})
        return DONE
    if state:
        table([state], out, datetime.now(UTC))
    else:
        out.console.print(f"{name} is over, and its cluster has forgotten it.")
    for what, value in {
        "command": " ".join(record["run"]["command"]),
        "launched": f"{record['launched']} by {record['person']} in {record['cluster']}",
        "code": record["code"],
        "commit": f"{record['commit']}{' and changes' if record['dirty'] else ''}" if record["commit"] else "none",
        "image": record["image"],
        "template": record["run"]["template"],
    }.items():
        out.console.print(Text.assemble((f"{what:<10}", "dim"), value), soft_wrap=True)
    for host in hosts:
        out.console.print(Text(f"{host['part']} {host['rank']}  {host['node']}  {host['phase']}"))
    return DONE


def one_host(pod: Any) -> dict[str, Any]:
    ended = look.main_status(pod).get("terminated") or {}
    return {
        "part": pod["metadata"]["labels"].get(PART),
        "rank": int(pod["metadata"].get("annotations", {}).get(RANK, 0)),
        "pod": pod["metadata"]["name"],
        "node": pod["spec"].get("nodeName"),
        "phase": pod.get("status", {}).get("phase"),
        "exit_code": ended.get("exitCode"),
    }


@runs.command(context_settings={"ignore_unknown_options": True})
@click.argument("name", metavar="RUN")
@click.argument("more", nargs=-1, type=click.UNPROCESSED, metavar="[ARGUMENTS...]")
@person_options
@click.option("--detach", "-d", is_flag=True, help="Do not follow it.")
@json_option
def again(name: str, more: tuple[str, ...], *, detach: bool, as_json: bool, **where: Any) -> int:
    """Runs RUN once more, with its very code, image and arguments; ARGUMENTS are added to its command."""
    person = opened(**where)
    launched = repeated(person, name, more)
    out = options.output(as_json=as_json)
    out.console.print(f"{launched.name} is queued: {name} again.")
    if as_json:
        out.document({"name": launched.name, "of": name, "code": launched.code})
    if as_json or detach:
        return DONE
    return followed(person, launched.name, launched.template.shown)


@runs.command()
@click.argument("name", metavar="RUN")
@click.argument("to", metavar="CLUSTER")
@person_options
@json_option
def move(name: str, to: str, *, as_json: bool, cluster: str | None, **where: Any) -> int:
    """Moves RUN to CLUSTER, where it goes on from its checkpoints. What waits can always be moved.

    --cluster says where it is now. It has ended there before it is queued in the other one.
    """
    target = opened(**where, cluster=to)
    source = opened(**where, cluster=cluster or the_other(target))
    launched = moved(source, target, name)
    out = options.output(as_json=as_json)
    out.console.print(f"{name} is queued in {target.cluster}, and gone from {source.cluster}.")
    if as_json:
        out.document({"name": launched.name, "from": source.cluster, "to": target.cluster})
    return DONE


def the_other(person: Person) -> str:
    """Raises UsageError where there is not one alone."""
    found = [name for name in person.world.fleet.clusters if name != person.cluster]
    if len(found) != 1:
        raise UsageError(
            f"Where is it now? Name its cluster with --cluster: {', '.join(found) or 'there is no other'}."
        )
    return found[0]


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="RUN...")
@person_options
@json_option
def stop(names: tuple[str, ...], *, as_json: bool, **where: Any) -> int:
    """Ends RUNs and gives their GPUs back. `landbridge runs again` runs one once more."""
    person = opened(**where)
    found = [look.known(person, name) for name in names]
    for one in found:
        ending.stop(person, one.name)
    out = options.output(as_json=as_json)
    if as_json:
        out.document({"cluster": person.cluster, "stopped": [one.as_json() for one in found]})
    for one in found:
        out.console.print(f"{one.name} is stopped after {one.gpu_hours:.1f} GPU hours.")
    return DONE
