"""`landbridge image publish | promote | rollback`: images in regions and sites, and their channels."""

import time
from collections.abc import Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from rich.table import Table

from fleet.azure.images import VERSION
from fleet.image_names import CHANNELS, STABLE
from images import bake, baked, channels
from images.channels import Move
from landbridge.errors import DONE, UsageError

from . import options
from .options import Command, Output, fleet_option, json_option, local_option, together

if TYPE_CHECKING:
    from images.stores.store import Store


class Where(NamedTuple):
    """Which store is meant: the regions of a fleet, or the folder of one of its sites."""

    regions: tuple[str, ...]
    site: str | None
    folder: Path | None
    key: Path | None
    local: bool
    fleet_file: Path | None


class Opened(NamedTuple):
    """A store, and who works on it."""

    store: "Store"
    who: str


def placed(command: Command) -> Command:
    """Adds the options that name a store, and gives them to the command as one `where`."""

    @wraps(command)
    def run(**given: Any) -> int:
        return int(command(where=Where(*(given.pop(name) for name in Where._fields)), **given))

    return PLACE(run)


PLACE = together(
    click.option("--region", "regions", multiple=True, metavar="NAME", help="This region alone; can be repeated."),
    click.option("--site", metavar="NAME", help="A machine room instead of regions."),
    click.option("--folder", type=click.Path(path_type=Path), metavar="DIR", help="With --site: where its images lie."),
    click.option(
        "--key", type=click.Path(path_type=Path), metavar="FILE", help="With --site: the Ed25519 key that signs."
    ),
    local_option,
    fleet_option,
)


def opened(where: Where) -> Opened:
    """Raises UsageError. On the local cloud this process continues inside it."""
    from landbridge.cluster import session as sessions
    from landbridge.image import stores  # speaks to clouds: commands that do not need that start without it

    world = options.the_fleet(where.fleet_file)
    if where.site:
        if where.regions:
            raise UsageError("--site is a machine room, --region is a cloud's: name one of them")
        if where.folder is None or where.key is None:
            raise UsageError("--site wants --folder DIR, where the images lie, and --key FILE, which signs their index")
        site = stores.at_site(world, where.site, where.folder, where.key)
        return Opened(site, stores.who(site, world, None))
    if where.folder or where.key:
        raise UsageError("--folder and --key go with --site")
    stores.regions(world, where.regions)
    place = sessions.the_place(world, local=where.local)
    clouds = stores.in_regions(world, place, where.regions)
    return Opened(clouds, stores.who(clouds, world, place))


def found(name: str) -> Path:
    """The folder of an image that was baked here, by its name or by a path."""
    return Path(name) if "/" in name else bake.home() / name


def moved(moves: Iterable[Move]) -> list[dict[str, str]]:
    return [
        {"place": one.place, "channel": str(one.key), "image": one.name, "id": one.image, "before": one.before}
        for one in moves
    ]


def tell(moves: Sequence[Move], out: Output) -> None:
    table = Table(box=None)
    for heading in ("Place", "Channel", "Image", "Before"):
        # A name that is cut off names nothing.
        table.add_column(heading, overflow="fold")
    for one in moves:
        table.add_row(one.place, str(one.key), one.name, one.before or "none")
    out.console.print(table)


def follow(moves: Sequence[Move], out: Output) -> None:
    stable = [one for one in moves if one.key.channel == STABLE]
    if stable:
        out.console.print("New machines start from it. `landbridge pool roll` replaces those that run.")
    if late := [one.place for one in stable if VERSION.match(one.image)]:
        # Scale sets name the version itself: docs/decisions/0038-a-gallery-of-the-fleet.md.
        text = f"In {', '.join(late)} they do once `landbridge up` has told their pools and clusters."
        out.console.print(text, soft_wrap=True)


@click.command()
@click.argument("name")
@placed
@json_option
def publish(
    name: str,
    *,
    where: Where,
    as_json: bool,
) -> int:
    """Brings image NAME, which was baked here, to every region of the fleet, and then into their channel candidate.

    What is interrupted goes on with the same command. With --site it goes into a folder, under a signed index.
    """
    out, began = options.output(as_json=as_json), time.monotonic()
    source = found(name)
    image = baked.read(source)
    to = opened(where)
    moves = channels.publish(to.store, source, image, to.who, out.progress.print)
    seconds = time.monotonic() - began
    if as_json:
        document = {"image": image.name, "places": list(to.store.places), "moved": moved(moves)}
        out.document({**document, "seconds": round(seconds, 1)})
        return DONE
    out.console.print(f"{image.name} is in {', '.join(to.store.places)}, after {seconds:.0f} s.", soft_wrap=True)
    if moves:
        tell(moves, out)
        out.console.print(f"Once it has proved itself: `landbridge image promote {image.name}`", soft_wrap=True)
    return DONE


@click.command()
@click.argument("name")
@click.option("--to", type=click.Choice(CHANNELS), default=STABLE, show_default=True, help="The channel.")
@click.option("--force", is_flag=True, help="To stable, though it is not the candidate.")
@placed
@json_option
def promote(
    name: str,
    *,
    to: str,
    force: bool,
    where: Where,
    as_json: bool,
) -> int:
    """Moves the pointers of a channel to image NAME, in every region; what was stable before retires.

    An image is a candidate before it is stable. Nothing is moved unless all regions have it.
    """
    out = options.output(as_json=as_json)
    at = opened(where)
    moves = channels.promotion(channels.look(at.store), name, to, force=force)
    channels.do(at.store, moves, at.who, "promote")
    if as_json:
        out.document({"moved": moved(moves)})
        return DONE
    if not moves:
        out.console.print(f"{name} is {to} everywhere already.")
        return DONE
    tell(moves, out)
    follow(moves, out)
    return DONE


@click.command()
@click.option("--variant", metavar="NAME", help="Which one, if several were promoted.")
@click.option("--kubernetes", metavar="VERSION", help="Which one, if several were promoted.")
@placed
@json_option
def rollback(
    *,
    variant: str | None,
    kubernetes: str | None,
    where: Where,
    as_json: bool,
) -> int:
    """Makes stable, in every region, what was stable before; done twice, it is as it was.

    What is interrupted goes on with the same command. A region where nothing was stable before keeps what it has, and
    is named.
    """
    out = options.output(as_json=as_json)
    at = opened(where)
    moves, first = channels.rollback(channels.look(at.store), variant, kubernetes)
    channels.do(at.store, moves, at.who, channels.ROLLBACK)
    if as_json:
        out.document({"moved": moved(moves), "kept": first})
        return DONE
    tell(moves, out)
    for place, name in first.items():
        out.console.print(f"{place} keeps {name}: nothing was stable there before it.", soft_wrap=True)
    follow(moves, out)
    return DONE


COMMANDS = (publish, promote, rollback)
