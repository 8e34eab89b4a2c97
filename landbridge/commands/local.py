"""`landbridge local`: the local cloud itself."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import click

from local import client

from .. import places
from ..entering import LOCAL_HOME
from ..errors import DONE, FAILED, UsageError
from . import options


@click.group()
def local() -> None:
    """The local cloud: where --local commands run. It starts by itself."""


@local.command()
@options.json_option
def status(*, as_json: bool) -> int:
    """Says whether it is up, since when and where its things lie. Exit code 1 when it is not."""
    cloud = client.status(LOCAL_HOME)
    out = options.output(as_json=as_json)
    if as_json:
        told = {"up": False} if cloud is None else {"up": True, "pid": cloud.pid, "generation": cloud.generation}
        out.document({**told, **({"started": cloud.started, "log": cloud.log} if cloud else {})})
    elif cloud is None:
        why = client.last_words(LOCAL_HOME)
        out.console.print("The local cloud is not up" + (f"; it {why}." if why else "."))
    else:
        age = datetime.now(UTC) - cloud.started
        out.console.print(f"The local cloud is up: process {cloud.pid}, since {int(age.total_seconds())} s.")
        out.console.print(f"Its log: {cloud.log}", soft_wrap=True)
    return FAILED if cloud is None else DONE


@local.command()
def stop() -> int:
    """Stops it. Its resources are gone with it."""
    stopped = client.stop(LOCAL_HOME)
    click.echo("The local cloud has stopped." if stopped else "The local cloud was not up.")
    return DONE


@local.command()
@click.option("--follow", "-f", is_flag=True, help="Go on as lines come.")
def logs(*, follow: bool) -> int:
    """Prints its log."""
    log = LOCAL_HOME / "cloud.log"
    if not log.exists():
        raise UsageError("The local cloud has no log: it has never been up.")
    if follow:
        return subprocess.run(["tail", "-n", "+1", "-f", str(log)], check=False).returncode
    click.echo(log.read_text(errors="replace"), nl=False)
    return DONE


@local.command("exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@options.fleet_option
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def execute(command: tuple[str, ...], *, fleet_file: Path | None) -> None:
    """Runs COMMAND inside, such as `aws ec2 describe-vpcs` or `pulumi stack ls`."""
    world = options.the_fleet(fleet_file)
    cloud = client.ensure(LOCAL_HOME)
    place = places.local_place(world, cloud)
    # Pulumi wants to be where its project is; everything else where the user is.
    folder = place.project if command[0] == "pulumi" else None
    inside = client.enter_command(cloud, command, folder)
    os.execvpe(inside[0], inside, places.local_environment(place))  # noqa: S606
