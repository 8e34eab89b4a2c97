"""What several commands share: options, the world a command works in, and how it ends."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fleet.where import fleet_path
from fleet.world import World, current
from landbridge import places, whole
from landbridge.errors import UsageError
from landbridge.local import enter
from landbridge.output import Output, output
from stacks.catalogue import StackSpec, catalogue, no_stack

if TYPE_CHECKING:
    from landbridge.cluster.session import Session

__all__ = ["Output", "output"]

Command = Callable[..., Any]

fleet_option, local_option = whole.option("fleet_file"), whole.option("local")
cluster_option = click.option("--cluster", metavar="NAME", help="Which cluster, if the fleet has several.")
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout, for machines.")
STDOUT = Path("-")
stacks_argument = click.argument("stacks", nargs=-1, metavar="[STACK]...")


def output_option(
    name: str, default: str = "", *, folder: bool = False, stdout: bool = False
) -> Callable[[Command], Command]:
    """Where a command writes, said the same at each; without a default it has to be said. `stdout`: `-` is that."""
    dash = ", - for standard output" if stdout else ""
    return click.option(
        "--output",
        "-o",
        name,
        type=click.Path(path_type=Path, allow_dash=stdout),
        required=not default,
        metavar="FOLDER" if folder else "FILE",
        help=f"{'The folder' if folder else 'The file'} to write{dash}.{f'  [default: {default}]' if default else ''}",
    )


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one decorator, in reading order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def existing(fleet_file: Path | None) -> Path:
    """The fleet file's path. Raises FleetError where none is found, and UsageError for a file that is not there."""
    path = fleet_path(fleet_file)
    if not path.is_file():
        raise UsageError(f"{path}: there is no such fleet file. Name one with --fleet FILE.")
    return path


def the_fleet(fleet_file: Path | None) -> World:
    """The fleet and its plan. Raises FleetError and UsageError."""
    return current(existing(fleet_file))


def the_place(world: World, *, local: bool) -> places.Place:
    """Where the fleet's stacks live. With `local`, this process continues inside the local cloud: see `entering`."""
    return places.local_place(world, enter.entered()) if local else places.cloud_place(world)


def the_cluster(fleet_file: Path | None, cluster: str | None, *, local: bool) -> "Session":
    """The cluster a command works on. Raises FleetError, UsageError and LandbridgeError."""
    from landbridge.cluster import session  # speaks to clouds: commands that do not need that start without it

    return session.opened(the_fleet(fleet_file), cluster, local=local)


def save(file: Path, text: str, option: str) -> None:
    """What a person asked for by `option` as a file. Raises UsageError."""
    try:
        file.write_text(text)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}: name another file with {option}.") from None


def chosen(names: Iterable[str], world: World, asides: Iterable[StackSpec] = ()) -> list[StackSpec]:
    """The stacks named on the command line, all of them when none is. Raises UsageError for one that is not there.

    `asides` are stacks that only their names choose.
    """
    stacks = [*catalogue(world.fleet), *(aside for aside in asides if aside.name in names)]
    unknown = [name for name in names if name not in {stack.name for stack in stacks}]
    if unknown:
        raise UsageError("\n".join(no_stack(world.fleet, world.path.name, name) for name in unknown))
    return [stack for stack in stacks if not names or stack.name in names]
