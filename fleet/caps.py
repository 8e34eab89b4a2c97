"""What a team or the whole fleet may hold at a time: GPUs, and US dollars an hour. Autoscalers keep to it.

Each counts the machines of its own cluster, so a cap is over pools of one cluster. A cap in dollars needs the price of
each of them: what nobody can tell the price of would be free.
"""

from collections.abc import Iterator
from typing import NamedTuple

from . import prices
from .model import Fleet, Pool

Wrong = tuple[tuple[str | int, ...], str, str]
GPUS, DOLLARS = "max_gpus", "max_usd_per_hour"


class Holder(NamedTuple):
    """A team, or the fleet; `pools` are its own in clouds whose machines the autoscaler counts: none to log in to."""

    entry: tuple[str | int, ...]
    name: str
    gpus: int | None
    dollars: float | None
    pools: dict[str, Pool]


def holders(fleet: Fleet) -> Iterator[Holder]:
    """Everybody who may have a cap."""
    clouds = {name: pool for name, pool in fleet.pools.items() if pool.region in fleet.regions and pool.kind != "ssh"}
    yield Holder((), "the fleet", fleet.max_gpus, fleet.max_usd_per_hour, clouds)
    for name, team in fleet.teams.items():
        own = {pool: config for pool, config in clouds.items() if config.owner == name}
        yield Holder(("teams", name), f"team {name}", team.max_gpus, team.max_usd_per_hour, own)


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry."""
    for holder in holders(fleet):
        if holder.gpus is not None:
            yield from _one_cluster(holder, GPUS)
            yield from _gpus(holder, holder.gpus)
        if holder.dollars is not None:
            yield from _one_cluster(holder, DOLLARS)
            yield from _dollars(fleet, holder, holder.dollars)


def _one_cluster(holder: Holder, key: str) -> Iterator[Wrong]:
    clusters = sorted({pool.cluster for pool in holder.pools.values()})
    if len(clusters) > 1:
        what = f"{holder.name} has a {key} and pools in the clusters {', '.join(clusters)}"
        remedy = (
            "Each cluster's autoscaler counts its own machines: give each cluster's pools a team and a cap of its own"
        )
        yield (*holder.entry, key), what, remedy


def _gpus(holder: Holder, cap: int) -> Iterator[Wrong]:
    """What a pool could never have is no size of it."""
    for name, pool in holder.pools.items():
        if pool.max * pool.gpus > cap:
            what = f"pool {name} may grow to {pool.max * pool.gpus} GPUs, and {holder.name} may hold {cap}"
            remedy = f"Lower its max to {cap // pool.gpus}, or raise {_whose(holder, GPUS)}"
            yield ("pools", name, "max"), what, remedy


def _dollars(fleet: Fleet, holder: Holder, cap: float) -> Iterator[Wrong]:
    always = 0.0
    for name, pool in holder.pools.items():
        if pool.instance_type is None:
            continue  # fleet.rules: needed in a region
        costs = prices.machine(fleet, name)
        if costs is None:
            what = (
                f"{holder.name} has a {DOLLARS}, and what a {pool.instance_type} of pool {name} costs is not known here"
            )
            yield (*holder.entry, DOLLARS), what, prices.unknown(pool.region or "", pool.instance_type)
            continue
        always += pool.min * costs
        if pool.max * costs > cap:
            what = (
                f"pool {name} may grow to {pool.max * costs:.2f} dollars an hour, and {holder.name} may spend {cap:g}"
            )
            remedy = f"Lower its max to {int(cap // costs)}, or raise {_whose(holder, DOLLARS)}"
            yield ("pools", name, "max"), what, remedy
    if always > cap:
        what = (
            f"machines that pools of {holder.name} always have (min) cost {always:.2f} dollars an hour, above {cap:g}"
        )
        yield (*holder.entry, DOLLARS), what, "Raise it, or lower their min"


def _whose(holder: Holder, key: str) -> str:
    return f"the team's {key}" if holder.entry else f"the fleet's {key}"
