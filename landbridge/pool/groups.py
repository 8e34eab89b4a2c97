"""Scaling groups of pools as the cloud has them: sizes, machines, and whether their launches fail."""

from collections.abc import Collection, Iterable, Mapping

from components.pools.names import Names
from landbridge.cluster.session import Session
from landbridge.errors import LandbridgeError

from . import cloud
from .regions import About, RegionError
from .sizes import Group

__all__ = ["About", "RegionError", "about", "of_pool", "of_region", "set_desired"]


def of_region(session: Session, region: str, pools: Collection[str]) -> dict[str, list[Group]]:
    """By pool, in the order of their zones; a pool that is not up has none. Raises RegionError."""
    return cloud.at(session, region).groups(pools)


def of_pool(session: Session, pool: str) -> list[Group]:
    """Raises LandbridgeError, also for a pool that is not up."""
    region = session.world.fleet.pools[pool].region
    assert region is not None
    found = of_region(session, region, [pool])[pool]
    expected = Names(session.world.fleet).groups(pool)
    if lacking := set(expected) - {group.name for group in found}:
        raise LandbridgeError(
            f"The pool {pool} is not up: {region} has no scaling group {', '.join(sorted(lacking))}. "
            f"Run `landbridge up {pool}{session.place.options}`."
        )
    return found


def set_desired(session: Session, region: str, wanted: Mapping[str, int]) -> None:
    """Raises RegionError."""
    cloud.at(session, region).set_desired(wanted)


def about(session: Session, region: str, names: Iterable[str]) -> dict[str, About]:
    """Of those that the cloud still knows. Raises RegionError."""
    return cloud.at(session, region).about(names)
