"""Where a run would go before anything is bought: which place and why, what is free, what it costs. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from components.addons.spec import AddOnsSpec
from components.pools.spec import PoolSpec
from fleet import prices
from landbridge.queue.runs import Place, Room, never

from .hosts import Hosts


class Choice(NamedTuple):
    """A place with a pool that has machines for it. `usd_an_hour` is None where nobody has said a price, 0 at a site.

    `buys` are machines that have to be bought, at most.
    """

    place: str
    pool: str
    site: bool
    free: int
    of: int
    buys: int
    usd_an_hour: float | None
    fits: bool


class Offer(NamedTuple):
    """`chosen` is where it would go now, or later: then `waits` says what for. `never` is why it can't be had.

    `ahead` are runs of the team that wait already.
    """

    hosts: Hosts
    choices: Sequence[Choice]
    chosen: Choice | None
    waits: str
    never: str
    ahead: int


def offer(spec: AddOnsSpec, room: Room, team: str, hosts: Hosts, ahead: int) -> Offer:
    """`ahead` are runs of the team that wait already."""
    share = room.share(team)
    found = [
        one
        for place in room.places
        if (pool := pool_at(spec, place.place, hosts))
        for one in [_choice(spec, place, pool, hosts)]
    ]
    able = [one for one in found if one.of >= hosts.total]
    cannot = never(hosts.total, share, room.places)
    if not cannot and not able:
        cannot = f"never: no place has {hosts.number} machines with {hosts.gpus} GPUs or more"
    now = next((one for one in able if one.fits), None)
    if share.most is not None and share.holds + hosts.total > share.most:
        waits = f"{team} holds {share.holds} GPUs of the {share.most} that it may hold"
    elif now is None:
        waits = f"no place has {hosts.total} GPUs free"
    else:
        waits = f"{ahead} of {team}'s runs wait already" if ahead else ""
    return Offer(
        hosts, found, None if cannot else now or next(iter(able), None), "" if cannot else waits, cannot, ahead
    )


def pool_at(spec: AddOnsSpec, place: str, hosts: Hosts) -> PoolSpec | None:
    """That which is filled first there, of those whose machines are large enough."""
    fitting = [pool for pool in spec.pools if pool.place == place and pool.hardware.gpus >= hosts.gpus]
    return max(fitting, key=lambda pool: spec.fleet.pools[pool.name].priority, default=None)


def _choice(spec: AddOnsSpec, place: Place, pool: PoolSpec, hosts: Hosts) -> Choice:
    most = sum(
        one.most * one.hardware.gpus
        for one in spec.pools
        if one.place == place.place and one.hardware.gpus >= hosts.gpus
    )
    free = min(place.free, most)
    return Choice(
        place=place.place,
        pool=pool.name,
        site=pool.site,
        free=free,
        of=most,
        buys=0 if pool.site else machines(pool, hosts),
        usd_an_hour=usd_an_hour(spec, pool, hosts),
        fits=free >= hosts.total,
    )


def machines(pool: PoolSpec, hosts: Hosts) -> int:
    """Several of a run's hosts may share a machine."""
    return -(-hosts.number // (pool.hardware.gpus // hosts.gpus))


def usd_an_hour(spec: AddOnsSpec, pool: PoolSpec, hosts: Hosts) -> float | None:
    """What its machines cost while it runs, other work on them left aside: 0 at a site, None where nobody says it."""
    if pool.site:
        return 0.0
    price = prices.machine(spec.fleet, pool.name)
    return None if price is None else price * machines(pool, hosts)
