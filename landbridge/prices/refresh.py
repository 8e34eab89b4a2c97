"""Fetches the prices of a fleet's instance types in its regions, side by side, and says what came of each."""

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

from components.pools.names import zone_name
from fleet.model import Fleet
from fleet.price_book import KIND_WORDS, Book, Kind, PriceList, RegionPrices

from . import aws, azure, web
from .web import AwayError, Lists

# Regions at a time.
READERS = 4
# Region, what came, of how much (None: nobody said it).
Hear = Callable[[str, int, int | None], None]


class Sources(NamedTuple):
    """Addresses of the lists, and what makes EC2's client of a region."""

    aws: str
    azure: str
    ec2: Callable[[str], Any]


class Fetched(NamedTuple):
    """Of one region: `lists` that came, and why others did not; `lacking` are types for which a list has no price."""

    region: str
    lists: Mapping[Kind, PriceList]
    away: Mapping[Kind, str]
    lacking: Mapping[Kind, Sequence[str]]


def fetch(
    fleet: Fleet, wanted: Mapping[str, Sequence[str]], sources: Sources, now: datetime.datetime, hear: Hear
) -> list[Fetched]:
    """`wanted` are instance types by region. What does not answer is told in what is returned."""
    with ThreadPoolExecutor(READERS) as pool:
        return [*pool.map(lambda region: _region(fleet, region, wanted[region], sources, now, hear), wanted)]


def merged(book: Book, fetched: Sequence[Fetched]) -> Book:
    """What did not come stays as it was, with its own date."""
    found = dict(book)
    for one in fetched:
        if lists := {str(kind): held for kind, held in one.lists.items()}:
            found[one.region] = found.get(one.region, RegionPrices()).model_copy(update=lists)
    return found


def _region(
    fleet: Fleet, region: str, types: Sequence[str], sources: Sources, now: datetime.datetime, hear: Hear
) -> Fetched:
    came, away = Lists(), dict[Kind, str]()
    for kinds, ask in _asked(fleet, region, types, sources, now, partial(hear, region)):
        try:
            came |= ask()
        except AwayError as error:
            away |= dict.fromkeys(kinds, str(error))
    made = {kind: PriceList(date=now.date(), source=source, usd_per_hour=usd) for kind, (source, usd) in came.items()}
    lacking = {kind: [name for name in types if name not in one.usd_per_hour] for kind, one in made.items()}
    return Fetched(region, made, away, {kind: names for kind, names in lacking.items() if names})


def _asked(
    fleet: Fleet, region: str, types: Sequence[str], sources: Sources, now: datetime.datetime, hear: web.Hear
) -> Iterator[tuple[Sequence[Kind], Callable[[], Lists]]]:
    """What is asked for together, and by what."""
    if fleet.regions[region].cloud == "azure":
        yield [*KIND_WORDS], lambda: azure.listed(sources.azure, region, types, hear)
    else:
        zones = [zone_name(fleet, region, zone) for zone in fleet.regions[region].zones]
        yield ("on_demand",), lambda: aws.on_demand(sources.aws, region, types, hear)
        yield ("spot",), lambda: aws.spot(sources.ec2(region), region, zones, types, now)
