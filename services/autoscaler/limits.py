"""How many machines more each scaling group may have, and which limit says so: pure.

Counted is what lives and what is owed, never placeholders: what was refused costs nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from . import settings
from .settings import Settings

Code = Literal[
    "pool-maximum", "group-maximum", "owner-gpus", "owner-price", "fleet-gpus", "fleet-price", "price-unknown"
]


class Room(NamedTuple):
    """`machines` more, because of `code`; `why` says so to people."""

    machines: int
    code: Code
    why: str


def room(configured: Settings, sizes: Mapping[str, int], name: str) -> Room:
    """Of the group of that name: the tightest of its limits. `sizes` are of all groups that the clouds have."""
    return min(_rooms(configured, sizes, configured.by_name[name]), key=lambda one: one.machines)


def _rooms(configured: Settings, sizes: Mapping[str, int], one: settings.Group) -> Iterator[Room]:
    counts = [(other, sizes[other.name]) for other in configured.groups if other.name in sizes]
    have = sizes[one.name]
    yield Room(max(0, one.most - have), "group-maximum", f"{one.name} has {have} machines, and {one.most} at most")
    if limit := configured.limits.pools.get(one.pool):
        have = sum(count for other, count in counts if other.pool == one.pool)
        why = f"pool {one.pool} has {have} machines, and {limit.machines} at most"
        yield Room(max(0, limit.machines - have), "pool-maximum", why)
    if mine := configured.limits.owners.get(one.owner):
        owned = [(other, count) for other, count in counts if other.owner == one.owner]
        yield from _shared(mine, one, owned, ("owner-gpus", "owner-price"), f"team {one.owner}")
    yield from _shared(configured.limits.fleet, one, counts, ("fleet-gpus", "fleet-price"), "the fleet")


def _shared(
    limit: settings.Limit,
    one: settings.Group,
    counts: Sequence[tuple[settings.Group, int]],
    codes: tuple[Code, Code],
    who: str,
) -> Iterator[Room]:
    """What a limit leaves that several groups share; `codes` are of GPUs and of dollars."""
    if limit.gpus is not None and one.gpus:
        gpus = sum(count * other.gpus for other, count in counts)
        why = f"{who} has {gpus} GPUs in clouds, and {limit.gpus} at most"
        yield Room(max(0, limit.gpus - gpus) // one.gpus, codes[0], why)
    if limit.price_usd is None:
        return
    unknown = sorted({other.pool for other, count in [*counts, (one, 1)] if count and other.price_usd is None})
    if unknown or one.price_usd is None:
        why = (
            f"{who} may spend {limit.price_usd:g} dollars an hour, and nobody has said what {', '.join(unknown)} costs"
        )
        yield Room(0, "price-unknown", why)
        return
    spent = sum(count * (other.price_usd or 0) for other, count in counts)
    why = f"{who} spends {spent:.2f} dollars an hour, and {limit.price_usd:g} at most"
    yield Room(int(max(0.0, limit.price_usd - spent) // one.price_usd), codes[1], why)
