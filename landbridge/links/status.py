"""How each link is, by what the clouds say of it: each cloud's file answers for its regions."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from components.links.plan import Peering, peerings, tunnels
from fleet.model import Cloud

from .aws import status as aws
from .azure import status as azure
from .info import Connections
from .seen import NONE, Published, Seen, SeenPeering, States


class Asked(NamedTuple):
    """What a cloud answers: of a region's connections as they were published by their ids, and of peerings of it."""

    tunnels: Callable[[Connections, str, Published], Iterator[Seen]]
    peerings: Callable[[Connections, Collection[Peering]], States]


CLOUDS: Mapping[Cloud, Asked] = {
    "aws": Asked(aws.tunnels, aws.peerings),
    "azure": Asked(azure.tunnels, azure.peerings),
}


def seen(links: Connections, site: str | None = None) -> list[Seen]:
    """Every tunnel that is planned, in the plan's order. A region that can't be asked stops no other one."""
    world = links.world
    told = {one.tunnel: one for region in world.fleet.regions for one in _of_region(links, region)}
    planned = [one for one in tunnels(world.fleet, world.plan) if site in (None, one.site)]
    return [
        told.get(one.name) or Seen(one.name, one.site, one.region, one.gateway, "", NONE, f"run `{links.up}`")
        for one in planned
    ]


def _of_region(links: Connections, region: str) -> Iterator[Seen]:
    if mine := {str(one["id"]): one for one in links.found.values() if one["region"] == region}:
        yield from CLOUDS[links.world.fleet.regions[region].cloud].tunnels(links, region, mine)


def seen_peerings(links: Connections) -> list[SeenPeering]:
    """Every one that is planned."""
    fleet = links.world.fleet
    planned, states = list(peerings(fleet)), dict[Peering, str]()
    for cloud, asked in CLOUDS.items():
        if mine := [one for one in planned if fleet.regions[one.here].cloud == cloud]:
            states |= asked.peerings(links, mine)
    return [SeenPeering(one.here, one.there, states.get(one, NONE)) for one in planned]
