"""How an image goes through channels: candidate → stable → retired, and back. Plans first, then the store's writes.

`retired` says which image was stable before, which is where a rollback leads.
"""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fleet.image_names import CANDIDATE, CHANNELS, RETIRED, STABLE

from .baked import Baked
from .errors import ImageError
from .stores.store import Pointer, PointerKey, Published, Record, Store, Tell

# Why a pointer moved, in its record: a rollback that ended early is known by it.
ROLLBACK = "rollback"


class Move(NamedTuple):
    """A pointer that is to say another image; `name` and `before` are for people."""

    place: str
    key: PointerKey
    image: str
    name: str
    before: str


class There(NamedTuple):
    """What a place has now."""

    images: Sequence[Published]
    pointers: Mapping[PointerKey, Pointer]

    def name(self, image: str) -> str:
        return next((one.name for one in self.images if one.id == image), image)


def look(store: Store) -> dict[str, There]:
    """By place."""
    return {place: look_at(store, place) for place in store.places}


def look_at(store: Store, place: str) -> There:
    return There(store.published(place), {one.key: one for one in store.pointers(place)})


def publish(store: Store, folder: Path, image: Baked, who: str, tell: Tell) -> list[Move]:
    """Brings an image to all places, and only then into their candidate channels. Raises ImageError."""
    _driven(image, CANDIDATE)
    ids = store.publish(folder, image, tell)
    key = PointerKey(image.variant, image.kubernetes, CANDIDATE)
    moves: list[Move] = []
    for place, there in look(store).items():
        moves += _moved(place, there, key, ids[place])
    do(store, moves, who, "publish")
    return moves


def promotion(places: Mapping[str, There], name: str, to: str, *, force: bool) -> list[Move]:
    """Pointers to move, in this order; none where all is so already. Raises ImageError."""
    if to not in CHANNELS:
        raise ImageError(f"There is no channel {to}. Name one of: {', '.join(CHANNELS)}")
    moves: list[Move] = []
    for place, there in places.items():
        image = _found(place, there, name)
        key = PointerKey(image.variant, image.kubernetes, to)
        _driven(image, to)
        moves += _promoted(place, there, image, key, force=force)
    return moves


def _driven(image: Baked | Published, to: str) -> None:
    """Pools may start from `candidate`, too, if the fleet file says so."""
    if image.variant == "gpu" and image.driver is None and to != RETIRED:
        raise ImageError(
            f"{image.name} has no driver, and machines with GPUs would start from it. Bake one that has: `landbridge "
            "image bake --variant gpu --driver NAME`. Nothing was changed"
        )


def _promoted(place: str, there: There, image: Published, key: PointerKey, *, force: bool) -> Iterator[Move]:
    current = _current(there, key)
    stable, candidate = (key._replace(channel=channel) for channel in (STABLE, CANDIDATE))
    if current == image.id:
        return
    if key.channel == STABLE and _current(there, candidate) != image.id and not force:
        candidate_name = there.name(_current(there, candidate)) or "none"
        raise ImageError(
            f"{image.name} is not the candidate for Kubernetes {image.kubernetes} in {place}, which is "
            f"{candidate_name}. Publish it again to make it the candidate and try it there first, or agree with "
            "--force; nothing was changed"
        )
    if key.channel == RETIRED and _current(there, stable) == image.id:
        raise ImageError(
            f"Machines in {place} start from {image.name}: promote another one to stable, and it retires. Nothing was "
            "changed"
        )
    if key.channel == STABLE and (before := _current(there, stable)):
        # First: a run that ends between the two writes does them both again.
        yield from _moved(place, there, key._replace(channel=RETIRED), before)
    yield from _moved(place, there, key, image.id)


def rollback(
    places: Mapping[str, There], variant: str | None, kubernetes: str | None
) -> tuple[list[Move], dict[str, str]]:
    """Stable says in every place what it said before, and what it says now retires.

    One that ended early goes on: where it was already, at most its second write is missing. The second is, by place,
    the image that stays, because it was the first there. Raises ImageError.
    """
    keys = sorted(
        {
            key
            for there in places.values()
            for key in there.pointers
            if key.channel == STABLE and variant in (None, key.variant) and kubernetes in (None, key.kubernetes)
        }
    )
    if len(keys) != 1:
        choices = ", ".join(f"--variant {key.variant} --kubernetes {key.kubernetes}" for key in keys)
        raise ImageError(
            f"Which one is meant? Name one of: {choices}. Nothing was changed"
            if keys
            else "No such image was ever promoted to stable: there is nothing to go back from"
        )
    key, moves, first = keys[0], list[Move](), dict[str, str]()
    having = {place: there for place, there in places.items() if key in there.pointers}
    for place, there in having.items():
        if _halfway(there, key):
            moves += _moved(place, there, key._replace(channel=RETIRED), there.pointers[key].previous)
        elif _done(place, having, key):
            continue
        elif target := _before(there, key):
            moves += _rolled_back(place, there, key, target)
        else:
            first[place] = there.name(there.pointers[key].image)
    if not moves:
        unchanged = ", ".join(f"{name} in {place}" for place, name in first.items())
        raise ImageError(f"Nothing was stable before {unchanged}: there is nothing to go back to. Nothing was changed")
    return moves, first


def _halfway(there: There, key: PointerKey) -> bool:
    """A rollback ended here between its two writes: stable has moved, and retired has not since."""
    now, retired = there.pointers[key], there.pointers.get(key._replace(channel=RETIRED))
    if now.record.why != ROLLBACK or not now.previous:
        return False
    return retired is None or (retired.image != now.previous and retired.record.when < now.record.when)


def _done(place: str, places: Mapping[str, There], key: PointerKey) -> bool:
    """A rollback that ended early was here already, and has yet to come to another place.

    That one is halfway back from the same image, or still has it as stable, by an older record: the second rollback of
    two leaves the same but for their order. One that can't go back says nothing. Images have their names everywhere.
    """
    record = places[place].pointers[key].record
    if record.why != ROLLBACK:
        return False
    for name, there in places.items():
        now = there.pointers[key]
        if name == place:
            continue
        if _halfway(there, key) and now.record.before == record.before:
            return True
        still = there.name(now.image) == record.before and now.record.when < record.when
        if still and _before(there, key):
            return True
    return False


def _before(there: There, key: PointerKey) -> str:
    """Empty where nothing was stable before."""
    now, retired = there.pointers[key], key._replace(channel=RETIRED)
    return next((one for one in (_current(there, retired), now.previous) if one and one != now.image), "")


def _rolled_back(place: str, there: There, key: PointerKey, target: str) -> Iterator[Move]:
    now, retired = there.pointers[key], key._replace(channel=RETIRED)
    gone = next((one for one in there.images if one.id == target), None)
    if gone is not None and gone.state in ("pending", "failed"):
        raise ImageError(f"{gone.name} is {gone.state} in {place}: machines can't start from it. Nothing was changed")
    # Stable first: it is what machines start from.
    yield from _moved(place, there, key, target)
    yield from _moved(place, there, retired, now.image)


def do(store: Store, moves: Sequence[Move], who: str, why: str) -> None:
    """Moves the pointers in their order; images that were being taken away are whole again before. Raises ImageError.

    All images are asked for before the first pointer moves. When it fails midway, the same command moves the rest.
    """
    places = {move.place for move in moves}
    published = {(one.place, one.id): one for place in sorted(places) for one in store.published(place)}
    for move in moves:
        if move.key.channel != RETIRED and (move.place, move.image) not in published:
            _whole(store, move)
    for move in moves:
        image = published.get((move.place, move.image))
        if image is not None and image.state in ("deprecated", "disabled") and move.key.channel != RETIRED:
            store.restore(image)
    for move in moves:
        record = Record(who, datetime.datetime.now(datetime.UTC), why, move.before)
        store.point(move.place, move.key, move.image, record)


def _whole(store: Store, move: Move) -> None:
    """An image that we have not published, or that somebody took away by hand. Raises ImageError."""
    if not store.exists(move.place, move.image):
        raise ImageError(
            f"{move.name} is not in {move.place}, or nothing can start from it: somebody took it away. Promote another "
            "one: `landbridge image promote NAME --force`. Nothing was changed"
        )


def _current(there: There, key: PointerKey) -> str:
    return there.pointers[key].image if key in there.pointers else ""


def _moved(place: str, there: There, key: PointerKey, image: str) -> Iterator[Move]:
    if (current := _current(there, key)) != image:
        yield Move(place, key, image, there.name(image), there.name(current))


def _found(place: str, there: There, name: str) -> Published:
    image = next((one for one in there.images if one.name == name), None)
    if image is None:
        raise ImageError(f"{name} is not published in {place}: `landbridge image publish {name}`. Nothing was changed")
    if image.state in ("pending", "failed"):
        raise ImageError(
            f"{name} is {image.state} in {place}: `landbridge image publish {name}` goes on with it. "
            "Nothing was changed"
        )
    return image
