"""`landbridge image`: node images on this machine; `image_channels` has what becomes of them elsewhere."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import click
from rich.table import Table

import installation
from images import bake as baking
from images import baked, checking, containers, digest, guest, lock, recipe, resolve, running, services
from images.baked import Baked
from images.checking import Check
from images.containers import Container
from images.errors import ImageError
from images.recipe import ImageSpec
from landbridge import loudness
from landbridge.errors import DONE, FAILED, UsageError
from landbridge.local.enter import ROOT
from local import kubernetes

from . import image_channels, image_published, options
from .image_burn_in import burn_in_
from .image_channels import Where
from .options import Output, json_option, together

# Builds what images have beside the control plane's programs, once, and says all their versions.
BUILDER = ROOT / "tools/image.py"
BUILT = installation.PROGRAMS / "image"
MOST_DIFFERENCES = 40
# Software emulation on a busy machine.
BOOT_SECONDS = 300

base_option = click.option("--base", default="debian-13", show_default=True, help="Which distribution it is made of.")
variant_option = click.option("--variant", default="cpu", show_default=True, help="Which image of the recipe.")
driver_option = click.option(
    "--driver", metavar="NAME", help="NVIDIA's driver, by its name in the recipe. Without it an image is driverless."
)
recipe_option = click.option(
    "--recipe", "recipe_file", type=click.Path(path_type=Path), metavar="FILE", help="Another recipe than our own."
)
locks_option = click.option(
    "--locks", type=click.Path(path_type=Path), metavar="FOLDER", help="Where lock files lie, for a recipe of yours."
)
what = together(base_option, variant_option, driver_option, recipe_option, locks_option, json_option)


@click.group()
def image() -> None:
    """Bakes node images on this machine, checks, compares and publishes them, and moves them through channels.

    Images lie below LANDBRIDGE_IMAGES.
    """


def asked_for(base: str, variant: str, driver: str | None, recipe_file: Path | None) -> ImageSpec:
    return recipe.select(recipe.load(recipe_file or recipe.RECIPE), base, variant, driver)


def packages_of(file: Path) -> tuple[lock.Package, ...]:
    """None of a file that is not there, or broken: it is written anew."""
    try:
        return lock.read(file).packages
    except ImageError:
        return ()


@image.command("lock")
@what
def lock_(
    *, base: str, variant: str, driver: str | None, recipe_file: Path | None, locks: Path | None, as_json: bool
) -> int:
    """Pins every package of an image by its digest: what Debian has now. Shows what changed; read it and commit it."""
    out, folder = options.output(as_json=as_json), locks or lock.FOLDER
    found = resolve.resolve(asked_for(base, variant, driver, recipe_file), folder)
    before = packages_of(found.file)
    running.made(folder, "Name another by --locks")
    found.file.write_text(lock.written(found))
    changes = list(lock.changes(before, found.packages))
    if as_json:
        rows = [{"package": name, "before": old, "now": new} for name, old, new in changes]
        out.document({"file": str(found.file), "packages": len(found.packages), "changes": rows})
        return DONE
    for name, old, new in changes if before else ():
        out.console.print(f"{name}: {old or 'new'} → {new or 'gone'}", soft_wrap=True)
    size_mib = sum(one.size_bytes for one in found.packages) >> 20
    out.console.print(f"{found.file}: {len(found.packages)} packages, {size_mib} MiB", soft_wrap=True)
    return DONE


@image.command()
@what
@click.option(
    "--containers",
    "archives",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="OCI archives of what the fleet file's images.prepull names: nodes have them from the start.",
)
@click.option("--again", is_flag=True, help="Even where the same image lies there: to see that it is the same.")
@options.fleet_option
def bake(
    *, base: str, variant: str, driver: str | None, recipe_file: Path | None, locks: Path | None,
    archives: Path | None, again: bool, fleet_file: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Bakes an image: raw, qcow2 and VHD, the same inside. Wants root; the same recipe gives the same image."""
    out, loaded = options.output(as_json=as_json), recipe.load(recipe_file or recipe.RECIPE)
    wanted = recipe.select(loaded, base, variant, driver)
    running.check({}, root=True)
    there = prepulled(wanted, archives, fleet_file) if archives else []
    own = loaded.recipe.services
    python = own.python if own and wanted.variant.services else None
    taken = given(wanted, locks or lock.FOLDER, python)
    # Of this bake alone: others may run beside it.
    with tempfile.TemporaryDirectory(prefix="services-", dir=BUILT) as folder:
        if python:
            there.append(services.make(loaded, taken.locks, taken.packages, BUILT / "services", Path(folder)))
        made = baking.bake(wanted, taken._replace(containers=there), out.progress.print, again=again)
    if as_json:
        times = {one.phase: round(one.seconds, 2) for one in made.times}
        out.document({"folder": str(made.folder), "seconds": times, **made.image.model_dump(mode="json")})
        return DONE
    if not made.times:
        out.console.print(f"{made.image.name} lies there, made of the same: {made.folder}", soft_wrap=True)
        return DONE
    seconds = sum(one.seconds for one in made.times)
    same = ", bit for bit the one that lay there" if made.before else ""
    out.console.print(f"{made.image.name} in {seconds:.0f} s{same}: {made.folder}", soft_wrap=True)
    out.console.print(disks(made.image))
    return DONE


def prepulled(wanted: ImageSpec, archives: Path, fleet_file: Path | None) -> list[Container]:
    """Raises ImageError for what differs from the fleet file's list, and FleetError."""
    if not wanted.variant.node:
        raise UsageError(f"Machines of variant {wanted.variant_name} run no containers: leave --containers out")
    return containers.taken(archives, containers.asked_for(options.the_fleet(fleet_file).fleet.images.prepull))


def given(wanted: ImageSpec, locks: Path, python: str | None) -> baking.Given:
    """Programs of this checkout, built where they are not yet, and what they are called by."""
    # What it tells goes to stderr: stdout is the command's own.
    command = [sys.executable, str(BUILDER), *(["--gpus"] if wanted.variant.gpus else [])]
    command += ["--services", python] if python else []
    if subprocess.run(command, stdout=loudness.aside(), check=False).returncode:
        raise ImageError("What a bake needs could not be built, and nothing was baked: see above")
    versions = json.loads((BUILT / "versions.json").read_text())
    programs = {name: BUILT / name if (BUILT / name).exists() else kubernetes.BIN / name for name in versions}
    there = {name: program for name, program in programs.items() if name in wanted.programs}
    cache = running.cache_folder("packages")
    return baking.Given(versions["kubelet"], there, versions, baking.home(), cache, locks)


def disks(made: Baked) -> Table:
    table = Table("Disk", "MiB", "SHA-256", box=None)
    for kind, disk in made.disks.items():
        table.add_row(kind, f"{disk.size_bytes / (1 << 20):,.0f}", disk.sha256)
    return table


def found(name: str) -> Path:
    """The folder of an image by its name, or by a path. Raises ImageError."""
    folder = image_channels.found(name)
    baked.read(folder)
    return folder


@image.command("list")
@click.option("--published", is_flag=True, help="Those in the fleet's regions, or in a site's folder, instead.")
@image_channels.placed
@json_option
def list_(*, published: bool, where: Where, as_json: bool) -> int:
    """Shows the images on this machine, the newest first; with --published where they are, and who uses them."""
    out = options.output(as_json=as_json)
    if published:
        return image_published.listed(where, out)
    if any(where):
        raise UsageError("What is published lists --published alone: add it")
    there = list(baked.listed(baking.home()))
    if as_json:
        out.document({"images": [{"folder": str(folder), **one.model_dump(mode="json")} for folder, one in there]})
        return DONE
    if not there:
        out.console.print("No image was baked yet. `landbridge image bake` makes one.")
        return DONE
    table = Table(box=None)
    # A name that is cut off names nothing.
    table.add_column("Image", no_wrap=True)
    for heading in ("Base", "Driver", "Packages", "Root MiB"):
        table.add_column(heading)
    for _, one in there:
        table.add_row(one.name, one.base, one.driver or "none", str(one.packages), str(one.root_mib))
    out.console.print(table)
    return DONE


def checked(name: str | None, out: Output, *, boot: bool) -> tuple[str, list[Check], float | None]:
    """The image's name, what was found, and after how many seconds its units had started, where it was."""
    running.check({}, root=True)
    folder = found(name) if name else next((folder for folder, _ in baked.listed(baking.home())), None)
    if folder is None:
        raise ImageError("No image was baked yet. `landbridge image bake` makes one")
    if not boot:
        return folder.name, checking.of_root(folder / baking.ROOT), None
    disk = baked.verified(folder, baked.read(folder), "qcow2")
    with guest.booted(disk, out.progress.print, limit_seconds=BOOT_SECONDS) as machine:
        out.progress.print(f"all units started after {machine.started_seconds:.0f} s")
        return folder.name, checking.of_machine("guest", machine.ssh_config), machine.started_seconds


@image.command()
@click.argument("name", required=False)
@click.option("--boot", is_flag=True, help="Start it in QEMU and check what runs, too. Takes minutes.")
@click.option("--node", metavar="[USER@]HOST", help="A machine that runs, over SSH, instead of an image.")
@json_option
def test(name: str | None, *, boot: bool, node: str | None, as_json: bool) -> int:
    """Checks what lies in an image, by default the newest here. Wants root. With --node it checks a machine."""
    out = options.output(as_json=as_json)

    if node and (boot or name):
        raise UsageError("--node is for a machine that runs, NAME and --boot for an image: name one of them")
    which, checks, started_seconds = (node, checking.of_machine(node), None) if node else checked(name, out, boot=boot)
    failed = [one for one in checks if one.outcome == "failed"]
    if as_json:
        rows = [one._asdict() for one in checks]
        out.document({"image": which, "started_seconds": started_seconds, "checks": rows})
        return FAILED if failed else DONE
    signs = {"passed": "[green]✓[/]", "failed": "[red]✗[/]", "skipped": "[dim]-[/]"}
    table = Table("", "Check", "Seconds", "Found", box=None)
    for one in checks:
        table.add_row(signs[one.outcome], one.name, f"{one.seconds:.2f}", one.why.partition("\n")[0])
    out.console.print(table)
    passed = sum(one.outcome == "passed" for one in checks)
    out.console.print(f"{which}: {passed} passed, {len(failed)} failed, {len(checks) - passed - len(failed)} left out")
    return FAILED if failed else DONE


@image.command()
@click.argument("first")
@click.argument("second")
@json_option
def diff(first: str, second: str, *, as_json: bool) -> int:
    """Shows which files differ between two images, and what of them."""
    out = options.output(as_json=as_json)

    before, now = (digest.read(baked.beside(found(name), digest.LISTING)) for name in (first, second))
    differing = list(digest.differences(before, now))
    if as_json:
        out.document({"differences": [one._asdict() for one in differing]})
        return DONE
    if not differing:
        out.console.print("They are the same.")
        return DONE
    for one in differing[:MOST_DIFFERENCES]:
        out.console.print(f"{one.path}: {one.what}", soft_wrap=True, markup=False)
    if len(differing) > MOST_DIFFERENCES:
        out.console.print(f"and {len(differing) - MOST_DIFFERENCES} more: --json has all")
    return DONE


for command in (burn_in_, *image_channels.COMMANDS, *image_published.COMMANDS):
    image.add_command(command)
