"""What a machine costs: US dollars an hour on demand, Linux, before any discount.

Clouds' lists are in `fleet.aws.prices` and `fleet.azure.prices`, for one region each. Other regions differ, and
accounts have discounts: regions.REGION.prices in the fleet file goes before both.
"""

from collections.abc import Iterator

from .aws import prices as aws_prices
from .azure import prices as azure_prices
from .model import Fleet

Wrong = tuple[tuple[str | int, ...], str, str]
# Where each cloud's table holds: elsewhere a price would be a guess, and a cap that is kept by guessing is none.
LISTS = {cloud.REGION: cloud.price for cloud in (aws_prices, azure_prices)}


def price(fleet: Fleet, region: str, instance_type: str) -> float | None:
    """US dollars for an hour; None where nobody has said it."""
    if configured := fleet.regions[region].prices.get(instance_type):
        return configured
    listed = LISTS.get(region)
    return listed(instance_type) if listed else None


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
            yield entry, what, f"Say it: regions.{where}.prices: {{{kind}: US DOLLARS AN HOUR}}"
        elif costs > cap:
            what = f"pool {name} may pay {cap:g} dollars an hour, and a {kind} costs {costs:.6g} in {where}"
            remedy = f"Raise it, choose another type, or say what you pay: regions.{where}.prices: {{{kind}: …}}"
            yield entry, what, remedy
