"""Hosts of sites on the local cloud: there they are machines of its own, and somebody has to run what enrols them.

On real clouds the hosts stand in their rooms, and people run it.
"""

import time
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Network
from typing import Any

from components.control_plane.machines import cluster_spec
from components.pools.kubelet import MOST_PODS
from fleet.world import World
from landbridge.cluster import info, why
from landbridge.cluster.session import Session
from landbridge.cluster.waiting import Tell
from landbridge.errors import LandbridgeError
from landbridge.places import Place
from local import hosts as local_hosts

from . import enrol, hosts, nodes, status, transfer
from .hosts import SiteHost

# A site's router and its gateways have the first addresses of its LAN.
FIRST_ADDRESS = 11
DISK_GIB, MEBIBYTES = 1000, 1024
READY_SECONDS, ENROL_SECONDS, AT_ONCE = 180.0, 240.0, 4


def ensure(world: World, place: Place, cluster: str, pools: Collection[str], tell: Tell, note: Tell) -> list[str]:
    """Has every host of those pools of the cluster up, enrolled and Ready; gives the names of those that were not.

    To be called after every up of a cluster's pools. Does nothing but on the local cloud, and there it is one call of
    the API when all stand. `tell` hears what is waited for, and may raise; `note` of hosts that another pool still has
    at work. Raises LandbridgeError.
    """
    if place.cloud is None:
        return []
    found = [host for site in world.fleet.sites for host in of_cluster(world, site, cluster)]
    wanted = [host for host in found if host.joins and host.pool in pools]
    if not wanted:
        return []
    session = Session(world, place, info.read(place, cluster))
    missing = lacking(session, wanted)
    if not missing:
        return []
    tell(f"{len(missing)} hosts of sites join")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        stay = list(pool.map(lambda host: bring(session, host), missing))
    for reason in filter(None, stay):
        note(reason)
    brought = [host for host, reason in zip(missing, stay, strict=True) if not reason]
    until_ready(session, brought, tell)
    return [host.node for host in brought]


def of_cluster(world: World, site: str, cluster: str) -> list[SiteHost]:
    return [host for host in hosts.of_site(world, site).values() if host.cluster == cluster]


def lacking(session: Session, wanted: Sequence[SiteHost]) -> list[SiteHost]:
    """Those that are no Ready node of their pool."""
    found = {node["metadata"]["name"]: node for node in session.admin.get("nodes")["items"]}

    def stands(host: SiteHost) -> bool:
        node = found.get(host.node)
        return node is not None and nodes.ready(node) and nodes.pool(node) == host.pool

    return [host for host in wanted if not stands(host)]


def bring(session: Session, host: SiteHost) -> str:
    """Stands the host up and runs its enrolment there, as people do elsewhere; or why it can't be moved yet."""
    local_hosts.stand_up(host_request(session.world, host))
    try:
        made = enrol.enrol(session, host, enrol.lifetime(1), address(session.world, host))
    except transfer.AtWorkError as error:
        return str(error)
    result = session.remote.run(host.node, ["sh"], made.command.encode(), ENROL_SECONDS)
    if result.code != 0:
        raise LandbridgeError(
            f"{host.node} was not enrolled: {result.err.strip() or result.why} {LOOK.format(host=host.node)}"
        )
    return ""


LOOK = "Look into `landbridge local logs {host} --unit kubelet`, then run the command again."


def until_ready(session: Session, wanted: Sequence[SiteHost], tell: Tell) -> None:
    began, checked_at, reason = time.monotonic(), time.monotonic(), ""
    while missing := lacking(session, wanted):
        names, now = ", ".join(host.node for host in missing), time.monotonic()
        late = now - began > READY_SECONDS
        if late or now - checked_at > why.AFTER_SECONDS:
            checked_at, reason = now, trouble(session, missing[0])
        if late:
            raise LandbridgeError(
                f"Not Ready after {READY_SECONDS:.0f} s: {names}{reason}. {LOOK.format(host=missing[0].node)}"
            )
        tell(f"waiting for {names}{reason}")
        time.sleep(1.0)


def trouble(session: Session, host: SiteHost) -> str:
    """Why one of them is no Ready node, as found there; begins with a colon, and is empty where nothing is known."""
    state = status.Hosts(session, {host.name: host}).look()[host.name]
    node = nodes.of_site(session.admin, host.site).get(host.node)
    found = state.unknown or why.not_ready(session, host.node, node)
    return f": {host.node}: {found}" if found else ""


def host_request(world: World, host: SiteHost) -> dict[str, Any]:
    """The host as the local cloud's machines service takes it."""
    of = host.spec
    return {
        "name": host.node,
        "site": host.site,
        "address": address(world, host),
        "lan": world.plan.site(host.site).lan,
        "block": world.plan.site(host.site).block,
        "gateways": [str(one) for one in world.fleet.sites[host.site].gateways],
        "kubernetes": cluster_spec(world.fleet, world.plan, host.cluster).kubernetes,
        "hardware": {
            "architecture": "amd64",
            "cpus": of.cpus,
            "memory_mib": of.memory_gib * MEBIBYTES,
            "disk_gib": DISK_GIB,
            "gpus": of.gpus,
            "rdma": MOST_PODS if of.rdma else 0,
        },
    }


def address(world: World, host: SiteHost) -> str:
    """The fleet file's, else one of the site's LAN by the host's place among its hosts, as its DHCP would give it."""
    if host.address:
        return host.address
    number = list(world.fleet.sites[host.site].hosts).index(host.name)
    return str(IPv4Network(world.plan.site(host.site).lan)[FIRST_ADDRESS + number])
