"""Virtual networks."""

from ipaddress import IPv4Network
from typing import Any

from ..errors import bad_request
from ..kinds import SLOW, Kind, World, Write
from ..store import Resource
from . import common, watchers
from .peerings import PEERING
from .subnets import SUBNET, inside, prefixes_of

NETWORK = "Microsoft.Network/virtualNetworks"
FLOW_LOG = "Microsoft.Network/networkWatchers/flowLogs"
# Azure's "Virtual Network FAQ": what no network may have.
FORBIDDEN = tuple(
    IPv4Network(one)
    for one in ("224.0.0.0/4", "255.255.255.255/32", "127.0.0.0/8", "169.254.0.0/16", "168.63.129.16/32")
)
LARGEST, SMALLEST = 2, 29
KNOWN = frozenset(
    (
        *("addressSpace", "dhcpOptions", "flowTimeoutInMinutes", "subnets", "virtualNetworkPeerings", "encryption"),
        *("enableDdosProtection", "enableVmProtection", "bgpCommunities", "privateEndpointVNetPolicies"),
    )
)
READ_ONLY = ("resourceGuid", "flowLogs", "defaultPublicNatGateway", "ipAllocations")


def prefixes(network: Resource) -> list[IPv4Network]:
    return [IPv4Network(one) for one in network.properties.get("addressSpace", {}).get("addressPrefixes", ())]


def _check(write: Write) -> None:
    common.name(write)
    address_prefixes = write.properties.get("addressSpace", {}).get("addressPrefixes") or ()
    spaces = [common.network(one, write.id.text) for one in address_prefixes]
    if not spaces:
        raise bad_request("MissingAddressSpace", f"Virtual network {write.id.name} has no address prefix.")
    for n, one in enumerate(spaces):
        if not LARGEST <= one.prefixlen <= SMALLEST or any(one.overlaps(never) for never in FORBIDDEN):
            raise common.invalid(f"The address prefix {one} of virtual network {write.id.name} is not allowed.")
        if any(one.overlaps(other) for other in spaces[:n]):
            raise common.invalid(f"The address prefix {one} of virtual network {write.id.name} overlaps another of it.")
    if write.properties.get("subnets") is None:
        for subnet in write.world.store.children(write.new, SUBNET):
            inside(write.new, subnet, prefixes_of(subnet, subnet.id.text))
    write.properties.setdefault("enableDdosProtection", False)
    write.properties.setdefault("privateEndpointVNetPolicies", "Disabled")
    common.guid(write)


def _removed(write: Write) -> None:
    """Flow logs go with what they watch."""
    for log in list(write.world.store.all(FLOW_LOG)):
        target = str(log.properties["targetResourceId"]).lower()
        if f"{target}/".startswith(f"{write.id.key}/"):
            write.world.store.drop(log)
    for other in write.world.store.all(PEERING):
        if str(other.properties["remoteVirtualNetwork"]["id"]).lower() == write.id.key:
            other.properties["peeringState"] = "Disconnected"


def _computed(world: World, network: Resource) -> dict[str, Any]:
    logs = [
        {"id": log.id.text}
        for log in world.store.all(FLOW_LOG)
        if str(log.properties["targetResourceId"]).lower() == network.id.key
    ]
    return {"flowLogs": logs} if logs else {}


KINDS = (
    Kind(
        NETWORK,
        check=_check,
        settle=watchers.watch_region,
        removed=_removed,
        computed=_computed,
        subresources={"subnets": SUBNET, "virtualNetworkPeerings": PEERING},
        keeps_subresources=True,
        known=KNOWN,
        read_only=READ_ONLY,
        slow=SLOW,
        free=frozenset((PEERING, FLOW_LOG)),
    ),
)
