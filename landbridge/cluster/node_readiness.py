"""After a cluster's pools and add-ons are up: the machines that its pools always have are nodes at work."""

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from fleet.model import Fleet
from fleet.world import World
from landbridge.errors import LandbridgeError
from landbridge.places import Place
from landbridge.pool import groups as scaling
from landbridge.pool import listing
from landbridge.site import local_hosts, nodes

from . import info, why
from .session import Session
from .waiting import READY_SECONDS, Tell, look


def ensure(
    world: World, place: Place, cluster: str, pools: Collection[str], tell: Tell, note: Tell, *, wait: bool
) -> None:
    """Sees to it that `pools`, which are up, have as many Ready nodes as they must. Raises LandbridgeError.

    Without `wait` (nothing was changed) it looks once, and `note` hears what is missing: one machine's trouble is no
    reason for an `up` that changes nothing to fail. On the local cloud the sites' hosts are stood up and enrolled, too.
    """
    session = Session(world, place, info.read(place, cluster))
    local_hosts.ensure(world, place, cluster, pools, tell, note)
    wanted = least(world.fleet, pools)
    began, checked_at, reasons = time.monotonic(), time.monotonic(), ""
    while missing := lacking(wanted, ready(there := nodes_of(session))):
        text = ", ".join(f"{pool} has {has} of {wanted[pool]}" for pool, has in missing.items())
        now = time.monotonic()
        late = now - began > READY_SECONDS[place.world]
        if not wait or late or now - checked_at > why.AFTER_SECONDS:
            checked_at, reasons = now, "".join(f"; {one}" for one in troubles(session, missing, there))
        if not wait:
            note(f"Ready nodes are missing: {text}{reasons}. Look with `landbridge kubectl get nodes`.")
            return
        if late:
            raise LandbridgeError(
                f"After {READY_SECONDS[place.world]:.0f} s Ready nodes are missing: {text}{reasons}. "
                f"`landbridge kubectl get nodes` shows who joined; {look(place)} shows how a machine's boot went."
            )
        tell(f"waiting for nodes: {text}{reasons}")
        time.sleep(1.0)


def troubles(session: Session, pools: Collection[str], there: Collection[nodes.Node]) -> Iterator[str]:
    """Why those pools lack nodes: what their scaling groups say, and the first machine that is none."""
    known = {node["metadata"]["name"]: node for node in there}
    for pool in pools:
        mine = [node for node in there if nodes.pool(node) == pool]
        try:
            found = scaling.of_pool(session, pool)
        except LandbridgeError as error:
            yield f"{pool}: {error}"
            continue
        yield from (f"{pool}: {words}" for words in listing.of_groups(found, mine, joins=True))
        names = [machine.name for group in found for machine in group.live]
        for name in [name for name in names if not nodes.ready(known.get(name))][:1]:
            if reason := why.not_ready(session, name, known.get(name)):
                yield f"{name}: {reason}"


def least(fleet: Fleet, pools: Collection[str]) -> dict[str, int]:
    """How many nodes those of the pools that are in clouds have at least, by pool: those that have any."""
    chosen = {name: fleet.pools[name] for name in pools}
    return {name: pool.min for name, pool in chosen.items() if pool.region and pool.kind != "ssh" and pool.min}


def nodes_of(session: Session) -> list[nodes.Node]:
    found: list[Any] = session.admin.get("nodes")["items"]
    return found


def ready(there: Collection[nodes.Node]) -> Counter[str]:
    """Ready nodes by pool."""
    return Counter(nodes.pool(node) for node in there if nodes.ready(node))


def lacking(wanted: Mapping[str, int], has: Mapping[str, int]) -> dict[str, int]:
    """How many there are in each pool that has too few."""
    return {pool: has.get(pool, 0) for pool, least in wanted.items() if has.get(pool, 0) < least}
