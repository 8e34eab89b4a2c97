"""`landbridge local`: the local cloud itself."""

import glob
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from landbridge import extras, places
from landbridge.errors import DONE, FAILED, UsageError
from landbridge.local.enter import LOCAL_HOME
from local import client

from . import options
from .local_event import event
from .local_gpu import gpu
from .local_guest import guest
from .local_host import host
from .local_saved import forget, load, save, saved


@click.group()
def local() -> None:
    """The local cloud: where --local commands run. It starts by itself, and keeps what stands in it."""


@local.command()
@options.json_option
def status(*, as_json: bool) -> int:
    """Says whether it is up, since when and where its things lie. Exit code 1 when it is not."""
    cloud = client.status(LOCAL_HOME)
    out = options.output(as_json=as_json)
    if as_json:
        document = {"up": False} if cloud is None else {"up": True, "pid": cloud.pid, "generation": cloud.generation}
        machines = {"machines": len(living(cloud))} if cloud else {}
        out.document({**document, **machines, **({"started": cloud.started, "log": cloud.log} if cloud else {})})
    elif cloud is None:
        why = client.last_words(LOCAL_HOME)
        out.console.print("The local cloud is not up" + (f"; it {why}." if why else "."))
    else:
        age = datetime.now(UTC) - cloud.started
        out.console.print(f"The local cloud is up: process {cloud.pid}, since {int(age.total_seconds())} s.")
        out.console.print(f"Machines: {len(living(cloud))}. `landbridge local machines` lists them.")
        out.console.print(f"Its log: {cloud.log}", soft_wrap=True)
    return FAILED if cloud is None else DONE


@local.command()
def start() -> int:
    """Starts it as it was: resources, machines and fleets' state. Every --local command does so by itself."""
    cloud = client.status(LOCAL_HOME)
    if cloud is not None:
        click.echo(f"The local cloud is up already: process {cloud.pid}.")
        return DONE
    extras.check("local")
    cloud = client.ensure(LOCAL_HOME)
    click.echo(
        f"The local cloud is up: process {cloud.pid}. Its machines boot: `landbridge local machines` shows them."
    )
    return DONE


@local.command()
def stop() -> int:
    """Stops it. What stands in it stays: `local start` has it go on, `local forget` drops it."""
    stopped = client.stop(LOCAL_HOME)
    click.echo("The local cloud has stopped. It keeps what stands in it." if stopped else "The local cloud was not up.")
    return DONE


@local.command("machines")
@options.json_option
def list_machines(*, as_json: bool) -> int:
    """Lists its machines: where each is, how it is, and what has failed on it. Exit code 1 when something has."""
    cloud = client.status(LOCAL_HOME)
    listed = client.machines(cloud) if cloud else []
    out = options.output(as_json=as_json)
    if as_json:
        out.document({"up": cloud is not None, "machines": listed})
    elif not listed:
        out.console.print("The local cloud has no machines." if cloud else "The local cloud is not up.")
    else:
        out.console.print(machine_table(listed))
    return FAILED if cloud is None or any(one["failed"] or one["why"] for one in listed) else DONE


for command in (host, guest, event, gpu, save, load, saved, forget):
    local.add_command(command)


@local.command()
@click.argument("machine", required=False)
@click.option("--unit", "-u", metavar="UNIT", help="One unit's own log instead of the machine's boot and console.")
@click.option(
    "--pod", "-p", metavar="NAMESPACE/POD", help="What its containers say, if the machine runs it as real processes."
)
@click.option("--follow", "-f", is_flag=True, help="Go on as lines come.")
def logs(machine: str | None, *, unit: str | None, pod: str | None, follow: bool) -> int:
    """Prints its log, or that of MACHINE (a name or an instance id): boot and console, one unit's, or one pod's."""
    if (unit or pod) and not machine:
        which = "--unit" if unit else "--pod"
        raise UsageError(f"{which} goes with a machine, which is named before it: `landbridge local logs MACHINE`.")
    if unit and pod:
        raise UsageError("--unit or --pod, not both.")
    if machine and pod:
        # It says which container's each one is.
        more = ["-F"] if follow else []
        command = ["tail", "-n", "+1", *more, *(str(file) for file in pod_logs(log_folders(machine)[1], pod))]
        return subprocess.run(command, check=False).returncode
    files = machine_logs(machine, unit) if machine else [LOCAL_HOME / "cloud.log"]
    if not machine and not files[0].exists():
        raise UsageError("The local cloud has no log: it has never been up.")
    if follow:
        command = ["tail", "-q", "-n", "+1", "-F", *(str(file) for file in files)]
        return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode
    shown = ""
    for text in (file.read_text(errors="replace") for file in files if file.exists()):
        # Its boot writes to its log and to the console, unless it has run before.
        if text not in shown and not all(line in shown for line in text.splitlines()):
            click.echo(text, nl=False)
            shown += text
    return DONE


def log_folders(name: str) -> tuple[Path, Path]:
    """A machine's own folder, and that of its logs. Raises UsageError for a machine that is not there."""
    cloud = client.status(LOCAL_HOME)
    if cloud is None:
        raise UsageError("The local cloud is not up: it has no machines.")
    try:
        folder = Path(client.machine(cloud, name)["folder"])
    except client.LocalCloudError as error:
        raise UsageError(str(error)) from None
    # Of a machine that was terminated only its logs are left.
    return folder, next((at for at in (folder / "disk/var/log", folder / "log") if at.exists()), folder)


def pod_logs(folder: Path, pod: str) -> list[Path]:
    """Those of a pod's containers, run by run, of all pods of that name. Raises UsageError."""
    space, slash, name = pod.partition("/")
    found = sorted((folder / "pods").glob(f"{glob.escape(space)}_{glob.escape(name)}_*/*/*.log*")) if slash else []
    if not found:
        known = sorted({"/".join(one.name.split("_")[:2]) for one in (folder / "pods").glob("*_*_*")})
        there = ", ".join(known) or "none"
        raise UsageError(f"{pod} is no pod (NAMESPACE/POD) that this machine runs itself. It has logs of: {there}.")
    # The older part of a log goes before the newer.
    return sorted(found, key=lambda file: (file.parent, int(file.name.split(".")[0]), file.name.endswith(".log")))


def machine_logs(name: str, unit: str | None) -> list[Path]:
    """The files to print. Raises UsageError for a machine or unit that is not there."""
    folder, logs_folder = log_folders(name)
    if unit is None:
        return [folder / "console.log", logs_folder / "landbridge-boot.log"]
    file = logs_folder / "units" / f"{unit if '.' in unit else f'{unit}.service'}.log"
    if not file.exists():
        there = ", ".join(sorted(found.stem for found in file.parent.glob("*.log"))) or "none"
        raise UsageError(f"The machine {name} has no log of a unit {unit}. It has logs of: {there}.")
    return [file.with_name(f"{file.name}.1"), file]


def living(cloud: client.Cloud) -> list[dict[str, Any]]:
    return [one for one in client.machine_list(cloud.home) if one["state"] != "terminated"]


def machine_table(listed: list[dict[str, Any]]) -> Table:
    """For people: fits 80 columns, whatever ails a machine. Instances' ids are in the JSON."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("Machine", "Zone", "Address", "State", "Since", "Trouble"):
        table.add_column(heading, overflow="fold", no_wrap=heading != "Trouble")
    for one in listed:
        since = datetime.fromisoformat(one["since"]).astimezone().strftime("%H:%M:%S")
        failed = (unit.removesuffix(".service") for unit in one["failed"])
        trouble = ", ".join(filter(None, (one["why"], *failed)))
        # A machine without a name is known by its instance.
        name = one["machine"] or one["instance"]
        table.add_row(name, one["zone"], one["address"], one["state"], since, trouble or "-")
    return table


@local.command("exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@options.fleet_option
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def execute(command: tuple[str, ...], *, fleet_file: Path | None) -> None:
    """Runs COMMAND inside, such as `aws ec2 describe-vpcs` or `pulumi stack ls`."""
    world = options.the_fleet(fleet_file)
    extras.check("local")
    cloud = client.ensure(LOCAL_HOME)
    place = places.local_place(world, cloud)
    # Pulumi wants to be where its project is; everything else where the user is.
    folder = place.project if command[0] == "pulumi" else None
    inside = client.enter_command(cloud, command, folder)
    os.execvpe(inside[0], inside, places.local_environment(place))  # noqa: S606
