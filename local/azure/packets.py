"""What of Azure's networks decides where a packet goes, as JSON for `local.network`, which makes routers of it."""

from collections.abc import Iterator
from typing import Any

from local.network.routers import card

from . import addresses, ids
from .kinds import World
from .store import Resource

NETWORK = "Microsoft.Network/virtualNetworks"
SUBNET = f"{NETWORK}/subnets"
# All may pass: nobody judges by Azure's security groups yet.
OPEN = "open"
EVERYTHING = {"protocol": "-1", "ports": None, "cidr": "0.0.0.0/0", "group": None}


def router(network: str) -> str:
    """The name of a network's router, by the network's id."""
    return card("azure-", network.lower())


def network_of(subnet: str) -> str:
    """The router's name, by a subnet's id."""
    parent = ids.parse(subnet).parent
    assert parent
    return router(parent.text)


def networks(world: World) -> Iterator[dict[str, Any]]:
    for network in world.store.all(NETWORK):
        subnets = list(world.store.children(network, SUBNET))
        held = {entry.address for subnet in subnets for entry in addresses.held(world, subnet)}
        yield {
            "id": router(network.id.text),
            "cidrs": list(network.properties["addressSpace"]["addressPrefixes"]),
            "subnets": [{"cidr": str(addresses.prefix(one)), "routes": []} for one in subnets],
            "interfaces": [{"address": one, "groups": [OPEN]} for one in sorted(held)],
            "endpoints": [],
            "groups": {OPEN: {"in": [EVERYTHING], "out": [EVERYTHING]}},
        }


def zones(world: World) -> Iterator[dict[str, Any]]:
    """Private zones with the networks that they are linked with; of their records those with addresses."""
    from .resources.private_zones import LINK, ZONE, sets

    for zone in world.store.all(ZONE):
        linked = [one.properties["virtualNetwork"]["id"] for one in world.store.children(zone, LINK)]
        records = [list(one) for record in sets(world, zone) for one in _records(zone, record)]
        yield {"name": zone.id.name.lower(), "vpcs": [router(one) for one in linked], "records": records}


def _records(zone: Resource, record: Resource) -> Iterator[tuple[str, None, list[str]]]:
    """Name, no alias, addresses."""
    if ids.same(record.id.types[-1], "A"):
        name = zone.id.name if record.id.name == "@" else f"{record.id.name}.{zone.id.name}"
        yield name.lower(), None, [one["ipv4Address"] for one in record.properties["aRecords"]]
