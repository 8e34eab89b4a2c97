"""`landbridge local gpu`: what ails a local machine's GPU, as nothing ails by itself here."""

from pathlib import Path
from typing import Any

import click

from landbridge.errors import DONE, UsageError
from landbridge.local.enter import LOCAL_HOME
from local import client
from local.workers.played import faults

from . import options

HOTTEST = 150


@click.command()
@click.argument("machine", metavar="MACHINE")
@click.argument("number", metavar="GPU", type=click.IntRange(min=0))
@click.option("--xid", type=click.IntRange(min=1), help="The driver tells of this Xid.")
@click.option("--lost", is_flag=True, help="It has fallen off the bus.")
@click.option("--double-bit", type=click.IntRange(min=0), help="So many double-bit ECC errors.")
@click.option("--remap-failed", is_flag=True, help="A row of its memory could not be replaced.")
@click.option("--heat", type=click.IntRange(0, HOTTEST), help="It is so hot, in degrees Celsius.")
@click.option("--well", is_flag=True, help="Nothing ails it any more.")
@options.json_option
def gpu(
    machine: str,
    number: int,
    *,
    xid: int | None,
    lost: bool,
    double_bit: int | None,
    remap_failed: bool,
    heat: int | None,
    well: bool,
    as_json: bool,
) -> int:
    """Has a GPU of MACHINE (a name or an instance id) fail, or get well. GPUs count from 0."""
    given = {"lost": lost or None, "double_bit": double_bit, "remap_failed": int(remap_failed) or None, "gpu_c": heat}
    what: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if xid is not None:
        what["xids"] = [xid]
    if well == bool(what):
        raise UsageError("Say what ails it, or that it is --well: `landbridge local gpu --help` has all that can be.")
    cloud = client.status(LOCAL_HOME)
    if cloud is None:
        raise UsageError("The local cloud is not up: it has no machines. `landbridge local start` has it go on.")
    disk = Path(client.machine(cloud, machine)["folder"]) / "disk"
    if number >= (there := faults.number(disk)):
        has = f"has GPUs 0 to {there - 1}" if there else "has no GPUs"
        raise UsageError(f"{machine} {has}: there is no GPU {number}.")
    now = faults.change(disk, number, what) if what else {}
    if well:
        faults.heal(disk, number)
    out = options.output(as_json=as_json)
    if as_json:
        out.document({"machine": machine, "gpu": number, "ails": now})
    else:
        told = ", ".join(f"{name} {value}" for name, value in now.items() if value) or "nothing"
        out.console.print(f"GPU {number} of {machine}: what ails it is {told}.", soft_wrap=True)
    return DONE
