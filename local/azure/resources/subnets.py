"""Subnets: where they lie, what they refer to, and what Azure tells of who is in them."""

from ipaddress import IPv4Network
from typing import Any

from .. import addresses, ids
from ..errors import bad_request
from ..kinds import SLOW, Kind, World, Write
from ..references import require
from ..store import Resource
from . import common

SUBNET = "Microsoft.Network/virtualNetworks/subnets"
FLOW_LOG = "Microsoft.Network/networkWatchers/flowLogs"
GATEWAY = "GatewaySubnet"
LARGEST, SMALLEST = 2, 29
KNOWN = frozenset(
    (
        *("addressPrefix", "addressPrefixes", "networkSecurityGroup", "routeTable", "natGateway", "serviceEndpoints"),
        *("delegations", "privateEndpointNetworkPolicies", "privateLinkServiceNetworkPolicies"),
        "defaultOutboundAccess",
    )
)
READ_ONLY = (
    *("privateEndpoints", "ipConfigurations", "ipConfigurationProfiles", "resourceNavigationLinks", "purpose"),
    *("serviceAssociationLinks", "applicationGatewayIPConfigurations", "ipAllocations", "serviceEndpointPolicies"),
)
REFERENCES = {
    "networkSecurityGroup": "Microsoft.Network/networkSecurityGroups",
    "routeTable": "Microsoft.Network/routeTables",
    "natGateway": "Microsoft.Network/natGateways",
}
# What may be given a whole subnet, with what it may then do there.
DELEGATIONS = {
    "Microsoft.Network/dnsResolvers": ["Microsoft.Network/virtualNetworks/subnets/join/action"],
    "Microsoft.NetApp/volumes": [
        "Microsoft.Network/networkinterfaces/*",
        "Microsoft.Network/virtualNetworks/subnets/join/action",
    ],
    "Microsoft.StorageCache/amlFilesystems": ["Microsoft.Network/virtualNetworks/subnets/join/action"],
}
POLICIES = ("Enabled", "Disabled", "NetworkSecurityGroupEnabled", "RouteTableEnabled")


def prefixes_of(subnet: Resource, at: str) -> list[IPv4Network]:
    """Raises ArmError."""
    prefixes = subnet.properties.get("addressPrefixes") or [subnet.properties.get("addressPrefix")]
    return [common.network(one, at) for one in prefixes]


def inside(network: Resource, subnet: Resource, prefixes: list[IPv4Network]) -> None:
    spaces = [IPv4Network(one) for one in network.properties["addressSpace"]["addressPrefixes"]]
    for one in prefixes:
        if not any(one.subnet_of(space) for space in spaces):
            message = (
                f"Subnet '{subnet.id.name}' is not valid because its IP address range is outside the IP address range "
                f"of virtual network '{network.id.name}'."
            )
            raise bad_request("NetcfgSubnetRangeOutsideVnet", message)


def _check(write: Write) -> None:
    common.name(write)
    if write.properties.get("addressPrefix") and write.properties.get("addressPrefixes"):
        raise common.invalid(f"{write.id.text} has both addressPrefix and addressPrefixes.")
    prefixes = prefixes_of(write.new, write.id.text)
    if len(prefixes) != 1:
        raise common.invalid(f"{write.id.text} has {len(prefixes)} prefixes: the local Azure has one a subnet.")
    network = write.parent
    if not LARGEST <= prefixes[0].prefixlen <= SMALLEST:
        message = f"Subnet '{write.id.name}' is not valid in virtual network '{network.id.name}'."
        raise bad_request("NetcfgInvalidSubnet", message)
    inside(network, write.new, prefixes)
    for other in write.siblings:
        if prefixes[0].overlaps(prefixes_of(other, other.id.text)[0]):
            message = (
                f"Subnet '{write.id.name}' is not valid because its IP address range overlaps with that of an existing "
                f"subnet in virtual network '{network.id.name}'."
            )
            raise bad_request("NetcfgSubnetRangesOverlap", message)
    _keeps_its_prefix(write, prefixes[0])
    for at, type_ in REFERENCES.items():
        if write.properties.get(at) is not None:
            require(write, write.properties[at], f"properties.{at}.id", type_)
            common.only_id(write.properties, at)
    _gateway(write)
    _delegations(write)
    common.pick(write, write.properties, "privateEndpointNetworkPolicies", POLICIES, "Disabled")
    common.pick(write, write.properties, "privateLinkServiceNetworkPolicies", ("Enabled", "Disabled"), "Enabled")


def _keeps_its_prefix(write: Write, prefix: IPv4Network) -> None:
    if write.old and addresses.prefix(write.old) != prefix and any(addresses.allocated(write.world, write.old)):
        message = (
            f"IpPrefix {addresses.prefix(write.old)} on Subnet {write.id.name} has active allocations and cannot be "
            "deleted."
        )
        raise bad_request("InUsePrefixCannotBeDeleted", message)


def _gateway(write: Write) -> None:
    if not ids.same(write.id.name, GATEWAY):
        return
    if group := write.properties.get("networkSecurityGroup"):
        message = (
            f"The operation failed because the network security group {group['id'].rpartition('/')[2]} can not be "
            "associated to the GatewaySubnet. Please remove the network security group associated to the "
            "GatewaySubnet. See here for additional details: https://aka.ms/GatewaySubnet."
        )
        raise bad_request("NetworkSecurityGroupCannotBeAttachedToGatewaySubnet", message)
    for at in ("natGateway", "delegations"):
        if write.properties.get(at):
            raise common.invalid(f"{write.id.text} is a gateway's subnet, which can have no {at}.")


def _delegations(write: Write) -> None:
    delegations = common.listed(write, "delegations", ("serviceName",), ("actions",))
    for one in delegations:
        service = common.pick(write, one["properties"], "serviceName", DELEGATIONS)
        one["properties"]["actions"] = DELEGATIONS[service]
    before = (
        [one["properties"]["serviceName"] for one in write.old.properties.get("delegations", ())] if write.old else []
    )
    gone = set(before) - {one["properties"]["serviceName"] for one in delegations}
    if gone and write.old and any(addresses.allocated(write.world, write.old)):
        message = f"Subnet {write.id.text} requires the delegation {min(gone)}, which is in use."
        raise bad_request("SubnetMissingRequiredDelegation", message)


def delegated_to(subnet: Resource) -> list[str]:
    return [one["properties"]["serviceName"] for one in subnet.properties.get("delegations", ())]


def _computed(world: World, subnet: Resource) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if allocations := [{"id": entry.by} for entry in addresses.allocated(world, subnet)]:
        found["ipConfigurations"] = allocations
    endpoints = [
        {"id": one.id.text}
        for one in world.store.all("Microsoft.Network/privateEndpoints")
        if ids.same(one.properties["subnet"]["id"], subnet.id.text)
    ]
    if endpoints:
        found["privateEndpoints"] = endpoints
    return found


KINDS = (
    Kind(
        SUBNET,
        tracked=False,
        check=_check,
        computed=_computed,
        known=KNOWN,
        read_only=READ_ONLY,
        serial=True,
        slow=SLOW,
        free=frozenset((FLOW_LOG,)),
    ),
)
