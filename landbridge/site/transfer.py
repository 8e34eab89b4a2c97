"""A host that the fleet file has given to another pool: it leaves the one before as soon as it has no work there.

A kubelet sets labels and taints when its node is made and no more, so the node goes, and comes anew in the next pool.
"""

from collections.abc import Iterator
from typing import NamedTuple

from components.pools.admission import SPACE
from landbridge.cluster import info
from landbridge.cluster.kube import Kube
from landbridge.cluster.session import Session
from landbridge.errors import LandbridgeError

from . import nodes
from .hosts import SiteHost
from .nodes import Node

# Of pods of any kind, and past budgets: the last replica of a site's DNS would hold it up for ever.
DRAIN = "--ignore-daemonsets --delete-emptydir-data --force --disable-eviction"


class AtWorkError(LandbridgeError):
    """It has pods of the pool that it is to leave."""


class Leaving(NamedTuple):
    """Which pools it may leave: those of the fleet, but for clusters that could not be asked about its work."""

    fleet: str
    unasked: tuple[str, ...] = ()


def leave(session: Session, host: SiteHost) -> Leaving:
    """Takes the host's node out of each cluster where it is one of another pool. Raises LandbridgeError."""
    unasked = []
    for other in clusters(session):
        try:
            node = other.admin.find("nodes", host.node)
        except LandbridgeError:  # its API is down; whether the host is its at all, the host knows
            unasked.append(other.info.name)
            continue
        if node and (other.info.name, nodes.pool(node)) != (host.cluster, host.pool):
            take_out(other.admin, node, other.info.name)
    return Leaving(session.info.fleet, tuple(unasked))


def take_out(admin: Kube, node: Node, cluster: str) -> None:
    """Anybody's pods keep it where it is; add-ons' come up elsewhere once the node is gone.

    No eviction: the last host of a site would wait for ever for the budget of the site's DNS.
    """
    name, pool = node["metadata"]["name"], nodes.pool(node)
    refuse(admin, name, cluster, pool)
    nodes.hold(admin, name)
    try:
        # Work may have come in the moment before.
        refuse(admin, name, cluster, pool)
    except AtWorkError:
        nodes.release(admin, name, leave_cordoned=nodes.cordoned(node))
        raise
    admin.done("delete", "node", name)


def refuse(admin: Kube, node: str, cluster: str, pool: str) -> None:
    runs = [pod for pod in nodes.busy(admin, node) if not pod.startswith(f"{SPACE}/")]
    if runs:
        more = f" and {len(runs) - 3} more" if len(runs) > 3 else ""
        end = f"`landbridge kubectl --cluster {cluster} drain {node} {DRAIN}`"
        raise AtWorkError(
            f"{node} is still at work for {pool} of {cluster}: {', '.join(runs[:3])}{more}. It moves once that has "
            f"ended; {end} ends it now. Then run this again; nothing was changed"
        )


def clusters(session: Session) -> Iterator[Session]:
    """All that are up, those too that the fleet file names no more."""
    from landbridge import places  # the engine: a second of commands that only look at a site
    from landbridge.engine.pulumi_command import PulumiCommand
    from landbridge.up import orphans

    world, place = session.world, session.place
    left = orphans.of_fleet(world, place, PulumiCommand(places.pulumi_root()))
    forgotten = [name for name, orphan in left.items() if orphan.spec.kind == "cluster"]
    for name in dict.fromkeys((*world.fleet.clusters, *forgotten)):
        if name == session.info.name:
            yield session
            continue
        try:
            outputs = info.read(place, name)
        except LandbridgeError:  # it was never up, so no host is its
            continue
        yield Session(world, place, outputs, hasty=True)
