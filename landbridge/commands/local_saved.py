"""`landbridge local save`, `load`, `saved` and `forget`: worlds of the local cloud that are kept, and its end."""

import os
import shutil
import sys
from pathlib import Path

import click
from rich.table import Table

from landbridge import loudness
from landbridge.cluster import kubeconfig_cache as kubeconfigs
from landbridge.engine import locks
from landbridge.errors import DONE, UsageError
from landbridge.local.enter import HOME, LOCAL_HOME
from landbridge.up.consent import ask
from local import saved_worlds, saving
from stacks.catalogue import PROJECT

from . import options

# Where saved worlds lie, if not in the folder of all state: several of those may share one.
SHELF = Path(os.environ.get("LANDBRIDGE_SAVED") or HOME / "saved").absolute()
name_argument = click.argument("name", metavar="NAME")
yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


@click.command()
@name_argument
def save(name: str) -> int:
    """Saves all that stands in it as NAME, of one moment: clouds, machines' disks, volumes, fleets' state.

    It stops for that moment and goes on: to its machines that is a power cut. A world of that name is replaced.
    """
    refuse_runs()
    made = saving.save(LOCAL_HOME, SHELF, name, say)
    click.echo(
        f"Saved as {made.name}: {machines(made)}, {made.mib} MiB. `landbridge local load {made.name}` brings it back."
    )
    return DONE


@click.command()
@name_argument
@yes_option
def load(name: str, *, yes: bool) -> int:
    """Replaces all that stands in it by what was saved as NAME, and starts it."""
    saved_worlds.fitting(saved_worlds.one(SHELF, name))
    refuse_runs()
    if saved_worlds.stands(LOCAL_HOME) and not yes:
        ask(f"What stands in the local cloud now is lost. Load {name}?", options.output(as_json=False))
    made = saving.load(LOCAL_HOME, SHELF, name, say)
    kubeconfigs.forget(HOME)
    click.echo(f"The local cloud is {made.name} again. Its machines boot: `landbridge local machines` shows them.")
    return DONE


@click.command()
@options.json_option
@click.option("--drop", metavar="NAME", help="Removes what was saved as NAME.")
def saved(*, as_json: bool, drop: str | None) -> int:
    """Lists what was saved, the newest first."""
    if drop:
        shutil.rmtree(saved_worlds.one(SHELF, drop).folder)
    listed = saved_worlds.listed(SHELF)
    out = options.output(as_json=as_json)
    if as_json:
        out.document({"shelf": str(SHELF), "saved": [one._asdict() for one in listed]})
    elif drop:
        click.echo(f"{drop} is gone.")
    elif not listed:
        click.echo("Nothing was saved yet. `landbridge local save NAME` saves what stands now.")
    else:
        out.console.print(table(listed))
    return DONE


@click.command()
@yes_option
def forget(*, yes: bool) -> int:
    """Stops it and drops all that stands in it, with the states of its fleets. What was saved stays."""
    refuse_runs()
    if saved_worlds.stands(LOCAL_HOME) and not yes:
        ask("All that stands in the local cloud is lost. Go on?", options.output(as_json=False))
    gone = saving.forget(LOCAL_HOME)
    kubeconfigs.forget(HOME)
    click.echo("The local cloud is empty." if gone else "Nothing stood in the local cloud.")
    return DONE


def refuse_runs() -> None:
    """Raises UsageError while a run is at work in there: it would find another world, or none."""
    for state in LOCAL_HOME.glob("*/state/.pulumi"):
        for folder in state.glob(f"locks/organization/{PROJECT}/*"):
            live = [lock for lock in locks.locks(state, PROJECT, folder.name) if not locks.stale(lock)]
            if live:
                raise UsageError(f"{folder.name} is being updated by {live[0]}. Wait for that run to end, or stop it.")


def say(text: str) -> None:
    loudness.note(f"{text} …")
    sys.stderr.flush()


def machines(one: saved_worlds.Saved) -> str:
    return f"{one.machines} machines" if one.machines != 1 else "1 machine"


def table(listed: list[saved_worlds.Saved]) -> Table:
    made = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("Name", "Saved", "Fleets", "Machines", "MiB"):
        made.add_column(heading, overflow="fold", justify="right" if heading in ("Machines", "MiB") else "left")
    for one in listed:
        when = one.made.astimezone().strftime("%Y-%m-%d %H:%M")
        made.add_row(one.name, when, ", ".join(one.fleets) or "-", str(one.machines), str(one.mib))
    return made
