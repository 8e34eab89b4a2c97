"""`landbridge image list --published | gc | verify`: what lies in regions and sites, who uses it, and what may go."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from images import channels, collecting
from images.channels import There
from images.collecting import Decision
from images.errors import ImageError
from images.stores.site import index as site_index
from images.stores.site import verify as verifying
from images.stores.store import Pointer, Published
from landbridge.errors import DONE, ConsentError, UsageError
from landbridge.up.consent import ask

from . import options
from .image_channels import Where, opened, placed
from .options import Output, json_option


@click.command()
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    default=collecting.KEEP,
    show_default=True,
    metavar="N",
    help="How many of each variant and Kubernetes minor stay, whoever uses them.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--many", is_flag=True, help="Though it is more than a third of a region's images, and more than 5.")
@placed
@json_option
def gc(
    *,
    keep: int,
    yes: bool,
    many: bool,
    where: Where,
    as_json: bool,
) -> int:
    """Takes old images away that nothing uses: deprecated at first, disabled two weeks later, then removed.

    What a channel names or named last, a machine runs from, or a launch template or configuration has stays. The plan
    is shown before anything is done, and one that takes many at once is refused.
    """
    out = options.output(as_json=as_json)
    at, now = opened(where), datetime.now(UTC)
    decisions = collecting.plan(at.store, keep, now)
    due = [one for one in decisions if one.action in collecting.ACTS]
    if not as_json:
        out.console.print(planned(decisions) if decisions else "Nothing was published yet.")
    if not many and (refused := collecting.above(decisions)):
        raise ConsentError(
            f"Nothing was changed: {', '.join(refused)}, and a run takes a third of a place's, or {collecting.FEW}, at "
            "most. Look at what is listed there: `landbridge image list --published`. To agree: --many"
        )
    if due and not yes:
        ask(f"Do these {len(due)} steps?", out)
    done = collecting.do(at.store, due, keep, now) if due else []
    if as_json:
        out.document({"plan": [decided(one) for one in decisions], "done": [decided(one) for one in done]})
        return DONE
    out.console.print(f"{len(done)} of {len(due)} steps done." if due else "There is nothing to do.")
    return DONE


def decided(one: Decision) -> dict[str, str]:
    image = one.image
    return {
        "place": image.place,
        "image": image.name,
        "id": image.id,
        "state": image.state,
        "action": one.action,
        "why": one.why,
    }


def planned(decisions: Sequence[Decision]) -> Table:
    styles = {"deprecate": "yellow", "disable": "yellow", "remove": "red"}
    table = Table(box=None)
    for heading in ("Place", "Image", "State", "Step", "Why"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("Place", "State", "Step"))
    for one in decisions:
        style = styles.get(one.action, "dim")
        table.add_row(one.image.place, one.image.name, one.image.state, f"[{style}]{one.action}[/]", one.why)
    return table


@click.command()
@click.argument("where_", metavar="URL-OR-FOLDER")
@click.argument("name", required=False)
@click.option(
    "--key", "key_file", type=click.Path(path_type=Path), required=True, metavar="FILE", help="The public key (PEM)."
)
@options.output_option("keep", "no disk is kept")
@click.option("--at-least", type=int, default=0, metavar="NUMBER", help="Refuse an index that is older than this one.")
@json_option
def verify(where_: str, name: str | None, *, key_file: Path, keep: Path | None, at_least: int, as_json: bool) -> int:
    """Checks a site's images: the index by its signature, disks by the digests in it.

    NAME is an image, or a channel such as cpu/1.36.2/stable; without it all are read but those that are disabled. With
    --output the disk of NAME is kept, once it has proved to be the one.
    """
    out = options.output(as_json=as_json)
    if keep and not name:
        raise UsageError("--output keeps one disk: name its image or channel, too")
    key = site_index.public_key(key_file)
    index = verifying.read(where_, key)
    if index.number < at_least:
        raise ImageError(
            f"{where_} has index {index.number} of {index.written:%Y-%m-%d %H:%M} UTC, and {at_least} or a later one "
            "was asked for: it is an old one, or another site's. Nothing was read"
        )
    checked = list(verifying.verify(where_, index, name, keep))
    if as_json:
        document = {"site": index.site, "number": index.number, "written": index.written}
        out.document({**document, "images": [one._asdict() for one in checked]})
        return DONE
    out.console.print(
        f"{index.site}: index {index.number} of {index.written:%Y-%m-%d %H:%M} UTC is signed by this key."
    )
    for one in checked:
        out.console.print(f"{one.name}: {one.size_bytes >> 20} MiB, {one.sha256}", soft_wrap=True)
    return DONE


def listed(where: Where, out: Output) -> int:
    """`image list --published`."""
    at, now = opened(where), datetime.now(UTC)
    looked = channels.look(at.store)
    rows: list[tuple[Published, There, Sequence[str]]] = []
    for place, there in looked.items():
        users_of = at.store.users(place)
        rows += [(image, there, users_of.get(image.id, ())) for image in sorted(there.images, key=lambda one: one.name)]
    if out.as_json:
        images = [
            {**image._asdict(), "channels": names(image, there), "users": list(users)} for image, there, users in rows
        ]
        pointers = [one for there in looked.values() for one in there.pointers.values()]
        out.document({"images": images, "channels": [pointed(one) for one in pointers]})
        return DONE
    if not rows:
        out.console.print("Nothing was published yet. `landbridge image publish NAME` does.")
        return DONE
    table = Table(box=None)
    for heading in ("Place", "Image", "Driver", "Days", "State", "Channels", "Used by"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("Place", "State"))
    for image, there, users in rows:
        more = f" and {len(users) - 1} more" if len(users) > 1 else ""
        table.add_row(
            image.place,
            image.name,
            image.driver or "none",
            str((now - image.created).days),
            image.state,
            ", ".join(names(image, there)),
            f"{users[0]}{more}" if users else "",
        )
    out.console.print(table)
    return DONE


def names(image: Published, there: There) -> list[str]:
    """The channels that say an image."""
    return [slot.channel for slot, pointer in there.pointers.items() if pointer.image == image.id]


def pointed(pointer: Pointer) -> dict[str, Any]:
    record = {"who": pointer.record.who, "when": pointer.record.when, "why": pointer.record.why}
    where = {"place": pointer.place, "channel": str(pointer.key), "id": pointer.image}
    return {**where, "previous": pointer.previous, **record}


COMMANDS = (gc, verify)
