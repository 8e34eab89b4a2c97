"""What clouds offer, into the fleet's shape book. Pure."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fleet import shapes
from fleet.model import Fleet
from fleet.shape_book import Book, RegionShapes

from . import asked
from .asked import Answers
from .offer import Offers


class Fetched(NamedTuple):
    """Of one region. `away`: why it did not answer. `lacking` are types that it does not offer; `unfit` are types with
    the reason why no node image is made for them. Neither goes into the book.
    """

    region: str
    held: RegionShapes | None
    away: str = ""
    lacking: Sequence[str] = ()
    unfit: Mapping[str, str] = {}


def fetched(
    fleet: Fleet, wanted: Mapping[str, Sequence[str]], answers: Answers, today: datetime.date
) -> Iterator[Fetched]:
    for region, types in wanted.items():
        if (offers := answers.offers.get(region)) is not None:
            yield _of(fleet, region, types, offers, today)
        elif region in answers.away:
            yield Fetched(region, None, answers.away[region])


def _of(fleet: Fleet, region: str, types: Sequence[str], offers: Offers, today: datetime.date) -> Fetched:
    unfit = {name: one.unfit for name, one in offers.items() if one.unfit}
    held = {name: one.shape for name, one in offers.items() if not one.unfit}
    source = asked.source(fleet, region)
    lacking = [name for name in types if name not in offers]
    return Fetched(region, RegionShapes(date=today, source=source, types=held), "", lacking, unfit)


def merged(book: Book, found: Sequence[Fetched]) -> Book:
    """What did not come stays as it was, with its own date."""
    return {**book, **{one.region: one.held for one in found if one.held}}


def changes(fleet: Fleet, one: Fetched) -> Iterator[str]:
    """What the fleet went by until now and is another thing to the cloud; zones, where they were known."""
    for name, now in sorted(one.held.types.items() if one.held else ()):
        if (known := shapes.listed(fleet, one.region, name)) is None:
            yield f"{name} is new: {now.cpus} vCPUs, {now.memory_gib:g} GiB, {now.gpus} GPUs"
            continue
        before, after = known.shape.model_dump(exclude_defaults=True), now.model_dump(exclude_defaults=True)
        for key in sorted(before.keys() & after.keys()):
            if before[key] != after[key]:
                yield f"{name} {key}: {_words(before[key])}, now {_words(after[key])}"


def _words(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else f"{value}"
