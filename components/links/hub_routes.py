"""What a region's hub leads where, as data. tests/stacks/test_links.py holds it against what the stacks register."""

from typing import NamedTuple

from components.network.hub_tables import INWARD, OUTWARD
from fleet.address.plan import AddressPlan
from fleet.model import Fleet

from .connections import connections
from .plan import peerings

NETWORK = "network"


class HubRoute(NamedTuple):
    """`via` is the region's network, another region, or a connection's name; `learned`: BGP tells it, if at all."""

    table: str
    cidr: str
    via: str
    learned: bool = False


def hub_routes(fleet: Fleet, plan: AddressPlan, region: str) -> list[HubRoute]:
    """Of a region of AWS."""
    found = [HubRoute(INWARD, plan.region(region).block, NETWORK)]
    for peering in peerings(fleet):
        ends = {peering.here: peering.there, peering.there: peering.here}
        if other := ends.get(region):
            found.append(HubRoute(OUTWARD, plan.region(other).block, other))
    # Azure's gateways tell their network, and no more of the block.
    across = [name for name, about in fleet.regions.items() if about.cloud == "azure"]
    found += [HubRoute(OUTWARD, plan.region(name).network, name, learned=True) for name in across]
    mine = [one for one in connections(fleet, plan) if one.region == region]
    return [*found, *(HubRoute(OUTWARD, plan.site(one.site).block, one.name, learned=True) for one in mine)]
