"""A region of Azure as a packet meets it: subnets, what is let in, and where its gateway and its peers lead. Pure."""

from collections.abc import Iterator
from typing import NamedTuple

from components.network import ports
from components.network.azure import subnets as azure_subnets
from fleet.address.plan import AddressPlan
from fleet.model import Fleet

from ..connections import connections
from ..hub_routes import HubRoute
from ..plan import peerings

GATEWAY = "gateway"


class AzureNetwork(NamedTuple):
    """`groups` are those of machines: a subnet's own lets them judge (components/network/azure/groups.py)."""

    cidr: str
    subnets: tuple[azure_subnets.Subnet, ...]
    groups: tuple[ports.Group, ...]
    routes: tuple[HubRoute, ...]


def azure_network(fleet: Fleet, plan: AddressPlan, name: str) -> AzureNetwork:
    here = plan.region(name)
    groups = ports.groups(ports.sources(fleet, plan, name), fleet.ingress)
    subnets = azure_subnets.subnets(fleet.regions[name], here)
    return AzureNetwork(here.network, tuple(subnets), tuple(groups), tuple(_routes(fleet, plan, name)))


def _routes(fleet: Fleet, plan: AddressPlan, name: str) -> Iterator[HubRoute]:
    """Azure lays them by itself: a peer's network, and what BGP tells the gateway."""
    for peering in peerings(fleet):
        ends = {peering.here: peering.there, peering.there: peering.here}
        if other := ends.get(name):
            yield HubRoute(GATEWAY, plan.region(other).network, other)
    for other, region in fleet.regions.items():
        if region.cloud == "aws":
            yield HubRoute(GATEWAY, plan.region(other).block, other, learned=True)
    for one in connections(fleet, plan, "azure"):
        if one.region == name:
            yield HubRoute(GATEWAY, plan.site(one.site).block, one.name, learned=True)
