"""What a machine costs: US dollars an hour, Linux, before any discount.

A price is the fleet file's own (regions.REGION.prices: accounts have discounts), or the newer one of the fleet's price
book (`fleet.price_book`) and the lists that come with Landbridge, `fleet.aws.prices` and `fleet.azure.prices`. These
are of one region each: elsewhere a price would be a guess, and a cap that is kept by guessing is none.
"""

import datetime
from collections.abc import Iterator
from typing import NamedTuple

from .aws import prices as aws_prices
from .azure import prices as azure_prices
from .dated import OLD_DAYS as OLD_DAYS
from .dated import days_old
from .model import Fleet
from .price_book import Kind

Wrong = tuple[tuple[str | int, ...], str, str]
LISTS = {cloud.REGION: cloud for cloud in (aws_prices, azure_prices)}
OWN = "the fleet file"


class Price(NamedTuple):
    """US dollars an hour, as `source` said on `date`; the fleet file's own have no date."""

    usd: float
    source: str
    date: datetime.date | None = None

    def days_old(self, today: datetime.date) -> int:
        return days_old(self.date, today)


def listed(fleet: Fleet, region: str, instance_type: str, kind: Kind = "on_demand") -> Price | None:
    """None where nobody has said it. Spot prices stand in the fleet's price book alone."""
    if kind == "on_demand" and (configured := fleet.regions[region].prices.get(instance_type)):
        return Price(configured, OWN)
    return max(_in_lists(fleet, region, instance_type, kind), key=lambda one: str(one.date), default=None)


def _in_lists(fleet: Fleet, region: str, instance_type: str, kind: Kind) -> Iterator[Price]:
    book = fleet.price_book.get(region)
    if (held := book and getattr(book, kind)) and (usd := held.usd_per_hour.get(instance_type)):
        yield Price(usd, held.source, held.date)
    shipped = LISTS.get(region)
    if kind == "on_demand" and shipped and (usd := shipped.price(instance_type)):
        yield Price(usd, shipped.SOURCE, shipped.DATE)


def price(fleet: Fleet, region: str, instance_type: str) -> float | None:
    """US dollars for an hour on demand; None where nobody has said it."""
    found = listed(fleet, region, instance_type)
    return found.usd if found else None


def machine(fleet: Fleet, pool: str) -> float | None:
    """At most what a machine of a pool in a region costs an hour; None where nobody has said it.

    A spot machine costs what it costs on demand at most, and no more than is bid.
    """
    config = fleet.pools[pool]
    assert config.region is not None
    listed = price(fleet, config.region, config.instance_type or "")
    known = [one for one in (listed, config.max_price_per_hour if config.spot else None) if one is not None]
    return min(known, default=None)


def machines(fleet: Fleet) -> dict[str, float]:
    """The same of each pool in a region whose price is known."""
    found = {name: machine(fleet, name) for name, pool in fleet.pools.items() if pool.region}
    return {name: one for name, one in found.items() if one is not None}


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry. Spot machines are no concern of this: their cap is what is bid."""
    for name, pool in fleet.pools.items():
        cap, where, kind = pool.max_price_per_hour, pool.region, pool.instance_type
        if cap is None or pool.spot or where not in fleet.regions or kind is None:
            continue
        entry, costs = ("pools", name, "max_price_per_hour"), price(fleet, where, kind)
        if costs is None:
            what = f"pool {name} has a max_price_per_hour, and what a {kind} costs in {where} is not known here"
            yield entry, what, unknown(where, kind)
        elif costs > cap:
            what = f"pool {name} may pay {cap:g} dollars an hour, and a {kind} costs {costs:.6g} in {where}"
            remedy = f"Raise it, choose another type, or say what you pay: regions.{where}.prices: {{{kind}: …}}"
            yield entry, what, remedy


def unknown(region: str, instance_type: str) -> str:
    """What to do where a price must be known and is not."""
    return (
        f"Fetch it with `landbridge prices refresh`, or say it: regions.{region}.prices: "
        f"{{{instance_type}: US DOLLARS AN HOUR}}"
    )
