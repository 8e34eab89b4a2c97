"""`landbridge logs`: what a run's host has printed, or what ran on a machine or is of it, also when they are gone."""

import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from landbridge import loudness
from landbridge.access.person import Person
from landbridge.errors import DONE, LandbridgeError, UsageError
from landbridge.experiments import follow, look
from landbridge.experiments.states import RunState
from landbridge.experiments.store import Records
from landbridge.monitoring import kept_logs, log_stores
from landbridge.monitoring.kept_logs import Ask, Line

from .durations import Duration
from .people import opened, part_option, person_options, rank_option
from .run import followed

# Of what a machine itself says.
UNROLLED = " Machines keep it from their next roll after `logs` came into the fleet file: `landbridge pool roll POOL`."


@click.command()
@click.argument("name", metavar="[RUN]", required=False)
@person_options
@click.option("--follow", "-f", "follows", is_flag=True, help="To its end; the exit code is the run's then.")
@rank_option
@part_option
@click.option("--kept", is_flag=True, help="What is kept of that host, of pods before, too; by itself once it is gone.")
@click.option("--node", metavar="NODE", help="All that is kept of what ran on that machine, there or gone.")
@click.option("--unit", "units", metavar="UNIT", multiple=True, help="With --node: of its units, or of its `kernel`.")
@click.option("--since", type=Duration(), metavar="TIME", help="No older lines, such as 2h.")
def logs(
    *,
    name: str | None,
    follows: bool,
    rank: int,
    part: str | None,
    kept: bool,
    node: str | None,
    units: tuple[str, ...],
    since: timedelta | None,
    **where: Any,
) -> int:
    """Prints what one host of RUN has printed, or with --node what ran on a machine, or with --unit the machine itself.

    What pods have printed that are gone is there where the fleet keeps logs: to people of a team, of their own pods.
    """
    if (name is None) == (node is None):
        raise UsageError("Whose logs? Name a run, or a machine with --node.")
    if units and node is None:
        raise UsageError("--unit is of a machine: name it with --node.")
    if follows and (kept or node or since):
        raise UsageError("--follow is for what a run prints from now on: leave out --kept, --node and --since.")
    if name is None:
        assert node is not None
        return of_node(opened(**where, every_team=True), node, units, since)
    person = opened(**where)
    if kept:
        return of_before(person, name, part, rank, since)
    state = look.run(person, name)
    if state is None and not log_stores.unavailable(person):
        return of_before(person, name, part, rank, since)
    state = state or known(person, name)
    chosen = look.part_of(person, name, part)
    if follows:
        return followed(person, name, chosen, rank)
    return of_now(person, state, chosen, rank, since)


def known(person: Person, name: str) -> RunState:
    """Raises UsageError, with why there is no more to be had of one that is not there."""
    try:
        return look.known(person, name)
    except UsageError as error:
        raise UsageError(f"{error} {log_stores.unavailable(person)}") from None


def of_now(person: Person, state: RunState, part: str, rank: int, since: timedelta | None) -> int:
    one = look.pod(look.pods(person, state.name), part, rank)
    if one is None:
        if state.ended and not log_stores.unavailable(person):
            return of_before(person, state.name, part, rank, since)
        why = f" {log_stores.unavailable(person)}" if state.ended else " yet."
        raise UsageError(f"{follow.said(state)}. There is no host {rank} of {part}{why}")
    if trouble := look.without_code(one):
        raise LandbridgeError(trouble)
    output = follow.Printed(sys.stdout.buffer)
    output.copy(person, one, follow=False, since=since)
    if output.why:
        raise LandbridgeError(f"What {state.name} has printed can't be read: {output.why}")
    return DONE


def of_before(person: Person, name: str, part: str | None, rank: int, since: timedelta | None) -> int:
    """Of all attempts of a run's host, from where they are kept."""
    with log_stores.opened(person) as stores:
        chosen = look.chosen_part(Records(person).read(name), name, part)
        which = kept_logs.of_host(person.namespace, name, chosen, rank)
        return told(stores, which, since, f"host {rank} of {chosen} of {name}", lambda line: line.text)


def of_node(person: Person, node: str, units: tuple[str, ...], since: timedelta | None) -> int:
    if units and person.session is None:
        raise UsageError("What a machine itself says is for operators: leave out --unit, and it is your pods'.")
    which = kept_logs.of_units(node, units) if units else kept_logs.of_node(node)
    of = f"{' and '.join(units)} of node {node}" if units else f"node {node}"
    with log_stores.opened(person) as stores:
        return told(stores, which, since, of, beside, UNROLLED if units else "")


def told(
    stores: Mapping[str, Ask],
    which: str,
    since: timedelta | None,
    of: str,
    shown: Callable[[Line], str],
    remedy: str = "",
) -> int:
    """Raises LandbridgeError where nothing is kept, with a remedy if there is one."""
    begin, some = datetime.now(UTC) - since if since else None, False
    for line in kept_logs.lines(stores, which, begin, loudness.note):
        some = True
        sys.stdout.buffer.write(shown(line).encode())
    sys.stdout.buffer.flush()
    if not some:
        raise LandbridgeError(f"Nothing is kept of {of}{' in that time' if since else ''}.{remedy}")
    return DONE


def beside(line: Line) -> str:
    """With when and who: many print on a machine."""
    at = datetime.fromtimestamp(line.at / 10**9, UTC)
    who = line.unit or f"{line.namespace}/{line.pod} {line.container}"
    return f"{at:%Y-%m-%dT%H:%M:%SZ} {who}: {line.text.rstrip(chr(10))}\n"
