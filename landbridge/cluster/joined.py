"""After a cluster's pools and add-ons are up: the machines that its pools always have are nodes at work."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping

from components.pools.labels import POOL
from fleet.model import Fleet
from fleet.world import World

from ..errors import LandbridgeError
from ..places import Place
from ..site import local_hosts, nodes
from . import info
from .session import Session

READY_SECONDS = {"real": 900.0, "local": 300.0}
Tell = Callable[[str], None]


def ensure(
    world: World, place: Place, cluster: str, pools: Collection[str], tell: Tell, note: Tell, *, wait: bool
) -> None:
    """Sees to it that `pools`, which are up, have as many Ready nodes as they must. Raises LandbridgeError.

    Without `wait` (nothing was changed) it looks once, and `note` hears what is missing: one machine's trouble is no
    reason for an `up` that changes nothing to fail. On the local cloud the sites' hosts are stood up and enrolled, too.
    """
    session = Session(world, place, info.read(place, cluster))
    local_hosts.ensure(world, place, cluster, pools, tell)
    wanted = least(world.fleet, pools)
    deadline = time.monotonic() + READY_SECONDS[place.world]
    while missing := lacking(wanted, ready(session)):
        text = ", ".join(f"{pool} has {has} of {wanted[pool]}" for pool, has in missing.items())
        if not wait:
            note(f"Ready nodes are missing: {text}. Look with `landbridge kubectl get nodes`.")
            return
        if time.monotonic() > deadline:
            raise LandbridgeError(
                f"After {READY_SECONDS[place.world]:.0f} s Ready nodes are missing: {text}. "
                f"`landbridge kubectl get nodes` shows who joined; {look(place)} shows how a machine's boot went."
            )
        tell(f"waiting for nodes: {text}")
        time.sleep(1.0)


def look(place: Place) -> str:
    return "`landbridge local logs MACHINE`" if place.world == "local" else "the instance's console output"


def least(fleet: Fleet, pools: Collection[str]) -> dict[str, int]:
    """How many nodes those of the pools that are in clouds have at least, by pool: those that have any."""
    chosen = {name: fleet.pools[name] for name in pools}
    return {name: pool.min for name, pool in chosen.items() if pool.region and pool.kind != "ssh" and pool.min}


def ready(session: Session) -> Counter[str]:
    """Ready nodes by pool."""
    found = session.admin.get("nodes")["items"]
    return Counter(node["metadata"].get("labels", {}).get(POOL, "") for node in found if nodes.ready(node))


def lacking(wanted: Mapping[str, int], has: Mapping[str, int]) -> dict[str, int]:
    """How many there are in each pool that has too few."""
    return {pool: has.get(pool, 0) for pool, least in wanted.items() if has.get(pool, 0) < least}
