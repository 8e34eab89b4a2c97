"""`landbridge local guest`: machines of the local cloud that are whole ones, started from an image."""

from pathlib import Path

import click

from images import bake as baking
from images import baked
from images.errors import ImageError
from landbridge.errors import DONE, UsageError
from landbridge.local import enter
from local import hosts as local_hosts

from . import options
from .options import fleet_option, together

KIND = "cpu"


@click.command("guest")
@together(click.argument("pool", metavar="POOL"), fleet_option)
@click.option("--image", "name", metavar="NAME", help="Which image, by name or path; without it, the newest here.")
@click.option("--off", is_flag=True, help="The pool's next machines are of the usual kind again.")
def guest(pool: str, name: str | None, *, off: bool, fleet_file: Path | None) -> int:
    """Has POOL's next machines start from a baked image in QEMU: real kernel, systemd, containerd and kubelet.

    What runs stays as it is. Wants root; under software emulation a machine takes minutes to join.
    """
    world = options.the_fleet(fleet_file)
    spec = world.fleet.pools.get(pool)
    if spec is None or spec.region is None:
        there = ", ".join(name for name, one in world.fleet.pools.items() if one.region) or "none"
        raise UsageError(f"{pool} is no pool in a region. Pools in regions: {there}.")
    if spec.gpus and not off:
        raise UsageError(f"{pool} has GPUs, and a guest has none. Name a pool of kind cpu, system or ssh.")
    if name and off:
        raise UsageError("--image or --off, not both.")
    enter.entered()
    disk = None if off else disk_of(name)
    local_hosts.guests(f"{world.fleet.fleet}/{pool}", str(disk) if disk else None)
    how = f"start from {disk}" if disk else "are of the usual kind again"
    click.echo(f"{pool}: the next machines {how}.")
    return DONE


def disk_of(name: str | None) -> Path:
    """The qcow2 of an image of variant cpu. Raises ImageError, UsageError."""
    home = baking.home()
    there = (at for at, one in baked.listed(home) if one.variant == KIND)
    folder = (Path(name) if "/" in name else home / name) if name else next(there, None)
    if folder is None:
        raise ImageError(f"No image of variant {KIND} was baked here yet. `landbridge image bake` makes one")
    made = baked.read(folder)
    if made.variant != KIND:
        raise UsageError(f"{made.name} is an image of variant {made.variant}, and nodes start from {KIND}.")
    return baked.verified(folder, made, "qcow2").resolve()
