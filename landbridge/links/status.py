"""How each link is, by what the clouds say of it: each cloud's file answers for its regions."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from components.links.plan import Peering, peerings, tunnels
from fleet.model import Cloud

from .aws import status as aws
from .azure import status as azure
from .info import Connections
from .tunnel_status import NONE, PeeringStatus, Published, States, TunnelStatus


class StatusReaders(NamedTuple):
    """What a cloud answers: of a region's connections as they were published by their ids, and of peerings of it."""

    tunnels: Callable[[Connections, str, Published], Iterator[TunnelStatus]]
    peerings: Callable[[Connections, Collection[Peering]], States]


CLOUDS: Mapping[Cloud, StatusReaders] = {
    "aws": StatusReaders(aws.tunnels, aws.peerings),
    "azure": StatusReaders(azure.tunnels, azure.peerings),
}


def tunnel_statuses(links: Connections, site: str | None = None) -> list[TunnelStatus]:
    """Every tunnel that is planned, in the plan's order. A region that can't be asked stops no other one."""
    world = links.world
    statuses = {one.tunnel: one for region in world.fleet.regions for one in _of_region(links, region)}
    planned = [one for one in tunnels(world.fleet, world.plan) if site in (None, one.site)]
    return [
        statuses.get(one.name)
        or TunnelStatus(one.name, one.site, one.region, one.gateway, "", NONE, f"run `{links.up}`")
        for one in planned
    ]


def _of_region(links: Connections, region: str) -> Iterator[TunnelStatus]:
    if mine := {str(one["id"]): one for one in links.found.values() if one["region"] == region}:
        yield from CLOUDS[links.world.fleet.regions[region].cloud].tunnels(links, region, mine)


def peering_statuses(links: Connections) -> list[PeeringStatus]:
    """Every one that is planned."""
    fleet = links.world.fleet
    planned, states = list(peerings(fleet)), dict[Peering, str]()
    for cloud, readers in CLOUDS.items():
        if mine := [one for one in planned if fleet.regions[one.here].cloud == cloud]:
            states |= readers.peerings(links, mine)
    return [PeeringStatus(one.here, one.there, states.get(one, NONE)) for one in planned]
