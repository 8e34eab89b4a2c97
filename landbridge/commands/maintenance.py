"""`landbridge maintenance`: what is planned on machines, for whom and when; and planning it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from landbridge.access.person import Person
from landbridge.errors import DONE, UsageError
from landbridge.maintenance import moves, objects, planning, table, targets, times, words
from landbridge.maintenance.objects import Item
from landbridge.output import Output

from . import options
from .durations import Duration
from .options import cluster_option, fleet_option, json_option, local_option, together
from .people import kubeconfig_option, opened

common = together(cluster_option, local_option, fleet_option, kubeconfig_option, json_option)
yes_option = click.option("--yes", is_flag=True, help="Without a question.")


@click.group(invoke_without_command=True)
@click.option("--all", "everything", is_flag=True, help="Those that are over, too; they are kept for a week.")
@common
@click.pass_context
def maintenance(context: click.Context, /, *, everything: bool, as_json: bool, **where: Any) -> int:
    """Shows what is planned on machines of a cluster: what, when, and whose work it concerns. Yours comes first.

    Whoever works there is told an hour before, as the fleet file's `maintenance` says; in the last hour no new work
    begins there; then work is asked to leave, as its disruption budgets allow.
    """
    if context.invoked_subcommand is not None:
        return DONE
    person, out = _opened(**where), options.output(as_json=as_json)
    found = [one for one in objects.everything(person) if everything or not one.over]
    mine = {one.plan.name for one in found if _concerns(one, person.team)}
    found.sort(key=lambda one: one.plan.name not in mine)
    if as_json:
        out.document({"cluster": person.cluster, "maintenances": [_document(one, person.team) for one in found]})
    elif found:
        out.console.print(table.plans(found, _now()))
    else:
        out.console.print(f"Nothing is planned on machines of {person.cluster}.")
    return DONE


@maintenance.command()
@click.argument("id_", metavar="ID")
@common
def show(id_: str, *, as_json: bool, **where: Any) -> int:
    """Shows one plan: each of its nodes, how far it is, and what it waits for."""
    person, out = _opened(**where), options.output(as_json=as_json)
    found = objects.one(person, id_)
    if as_json:
        out.document(_document(found, person.team))
        return DONE
    out.console.print(table.plans([found], _now()))
    out.console.print()
    out.console.print(table.nodes(found, _now()) if found.plan.nodes else "No node is in it yet.")
    return DONE


@maintenance.command()
@click.argument("what", nargs=-1, required=True, metavar="WHAT")
@click.option("--at", "at", required=True, metavar="TIME", help="22:00, 2026-12-01T22:00 or, from now on, 2h.")
@click.option("--for", "long", type=Duration(), default="1h", show_default=True, help="How long it takes.")
@click.option("--why", required=True, metavar="TEXT", help="Said to all whom it concerns.")
@click.option(
    "--deadline",
    type=Duration(),
    help="So long after the start pods are deleted that did not leave.  [default: never, they are named]",
)
@click.option("--dry-run", is_flag=True, help="Show whom it concerns, and plan nothing.")
@yes_option
@common
def plan(
    what: tuple[str, ...],
    *,
    at: str,
    long: timedelta,
    why: str,
    deadline: timedelta | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    **where: Any,
) -> int:
    """Plans work on a machine, or on all of a pool, site, zone or region; of a link, on what is behind it.

    WHAT is a node's name, or a kind and a name: `pool site-gpu`, `site lab`, `zone us-west-2a`, `region eu-west-1`,
    `link lab`. While a link is out nothing is drained: no new work begins behind it.
    """
    if len(what) > 2:
        raise UsageError(f"{' '.join(what)}: that is more than one thing. {targets.FORMS}.")
    person, out, now = _opened(**where), options.output(as_json=as_json), _now()
    told = person.world.fleet.maintenance
    planning.check_why(why)
    start = times.moment(at, now)
    planning.check_notice(told, start, now)
    nodes, pods = objects.seen(person, "planned")
    chosen = targets.target(what, person.world.fleet, person.cluster, nodes)
    hurt = targets.impact(chosen, person.world.fleet, nodes, pods)
    opens = {
        pool: later
        for pool, place in targets.places(chosen.nodes)
        if (later := planning.opens(told, pool, place, start)) is not None
    }
    known = {one.plan.name for one in objects.everything(person)}
    made = planning.manifest(
        chosen,
        told,
        planning.name(chosen, start, known),
        start=start,
        long=long,
        why=why,
        by=person.name,
        deadline=deadline,
    )
    name = made["metadata"]["name"]
    if not as_json:
        for line in words.plan(chosen, hurt, opens, start, long, told.notice_minutes):
            out.console.print(line, soft_wrap=True)
    if not dry_run:
        _ask(out, f"Plan {name}?", yes=yes)
        objects.make(person, made)
    if as_json:
        out.document({"maintenance": None if dry_run else name, "spec": made["spec"], "concerns": hurt._asdict()})
    elif not dry_run:
        then = f"landbridge maintenance show {name}{person.options}"
        out.console.print(f"{name} is planned. `{then}` shows how far it is.", soft_wrap=True)
    return DONE


@maintenance.command()
@click.argument("id_", metavar="ID")
@click.argument("long", type=Duration())
@common
def postpone(id_: str, long: timedelta, *, as_json: bool, **where: Any) -> int:
    """Moves a plan to later, by 2h say: operators, and whoever has work there, as often as the fleet file allows."""
    return _change(
        id_, lambda found, person: moves.later(found, person.name, long, _now()), "postponed", as_json=as_json, **where
    )


@maintenance.command()
@click.argument("id_", metavar="ID")
@common
def cancel(id_: str, *, as_json: bool, **where: Any) -> int:
    """Drops a plan, at any stage: its machines take new work again."""
    return _change(id_, lambda found, _: moves.never(found), "cancelled", as_json=as_json, **where)


@maintenance.command()
@click.argument("id_", metavar="ID")
@common
def done(id_: str, *, as_json: bool, **where: Any) -> int:
    """Says that the work is done before its time: machines are looked at, and take new work again."""
    return _change(id_, lambda found, _: moves.done(found), "ended", as_json=as_json, **where)


@maintenance.command()
@click.argument("id_", metavar="ID")
@yes_option
@common
def now(id_: str, *, yes: bool, as_json: bool, **where: Any) -> int:
    """Begins a plan now, with no more notice. It says whose work that ends, and asks."""
    person, out = _opened(**where), options.output(as_json=as_json)
    found = objects.one(person, id_)
    moves.at_once(found, _now())
    nodes, pods = objects.seen(person, "begun")
    chosen = targets.target((found.plan.target, found.plan.target_name), person.world.fleet, person.cluster, nodes)
    hurt = targets.impact(chosen, person.world.fleet, nodes, pods)
    out.console.print(f"It ends {words.work(hurt)}, with no notice but their own grace.", soft_wrap=True)
    _ask(out, f"Begin {id_} now?", yes=yes)
    return _change(id_, lambda known, _: moves.at_once(known, _now()), "begun", as_json=as_json, **where)


def _opened(**where: Any) -> Person:
    return opened(**where, team=None, every_team=True)


def _now() -> datetime:
    """By the clock of who types."""
    return datetime.now(UTC).astimezone()


def _ask(out: Output, question: str, *, yes: bool) -> None:
    """Raises UsageError where nobody can answer, and Abort for no."""
    if yes:
        return
    if not out.interactive:
        raise UsageError(f"{question} Nobody is there to answer: --yes says so beforehand.")
    click.confirm(question, abort=True)


def _change(
    id_: str, how: Callable[[Item, Person], objects.Operations], what: str, *, as_json: bool, **where: Any
) -> int:
    person, out = _opened(**where), options.output(as_json=as_json)
    found = objects.change(person, id_, lambda known: how(known, person), what)
    if as_json:
        out.document(_document(found, person.team))
    else:
        begins = table.clock(found.plan.start, _now())
        moved = f", to {begins}" if what == "postponed" else ""
        out.console.print(f"{id_} is {what}{moved}.")
    return DONE


def _concerns(found: Item, team: str) -> bool:
    return bool(team) and any(team in one.teams for one in found.plan.nodes.values())


def _document(found: Item, team: str) -> dict[str, Any]:
    spec, status = found.thing["spec"], found.thing.get("status") or {}
    about = {"id": found.plan.name, "phase": found.phase, "mine": _concerns(found, team)}
    return {**about, **spec, "nodes": status.get("nodes") or {}}
