"""Network interfaces of machines and of private endpoints."""

import uuid
from typing import Any

from .. import addresses, ids
from ..errors import bad_request
from ..kinds import SLOW, Kind, World, Write
from ..references import id_of, refuse_busy, require
from ..store import Resource
from . import common
from .public_addresses import require_public
from .subnets import GATEWAY, SUBNET, delegated_to

INTERFACE = "Microsoft.Network/networkInterfaces"
KNOWN = frozenset(
    (
        *("networkSecurityGroup", "ipConfigurations", "dnsSettings", "enableAcceleratedNetworking"),
        *("enableIPForwarding", "nicType", "workloadType", "auxiliaryMode", "auxiliarySku", "disableTcpStateTracking"),
    )
)
READ_ONLY = (
    *("virtualMachine", "privateEndpoint", "macAddress", "primary", "resourceGuid", "hostedWorkloads"),
    *("tapConfigurations", "vnetEncryptionSupported", "defaultOutboundConnectivityEnabled"),
)
CONFIGURATION = frozenset(
    (
        *("privateIPAddress", "privateIPAllocationMethod", "privateIPAddressVersion", "subnet", "primary"),
        *("publicIPAddress", "loadBalancerBackendAddressPools", "applicationSecurityGroups"),
    )
)


def settle_subnet(write: Write, of: dict[str, Any], at: str, service: str | None = None) -> Resource:
    """The subnet of a configuration, kept as its id. `service`: to whom it may, and must, be delegated."""
    subnet = require(write, of.get("subnet"), f"{at}.subnet.id", SUBNET)
    common.only_id(of, "subnet")
    given = delegated_to(subnet)
    if service is None and given:
        message = f"{write.id.text} cannot be in subnet {subnet.id.text}, which is delegated to {given[0]}."
        raise bad_request("SubnetIsDelegatedAndCannotBeUsed", message)
    if service is not None and service not in given:
        raise common.invalid(f"{write.id.text}: subnet {subnet.id.text} is not delegated to {service}.")
    return subnet


def wish(write: Write, of: dict[str, Any], subnet: Resource, by: str) -> tuple[Resource, str | None, str]:
    """What a configuration wants of its subnet, for `addresses.allot`."""
    static = common.pick(write, of, "privateIPAllocationMethod", ("Static", "Dynamic"), "Dynamic") == "Static"
    if static and not of.get("privateIPAddress"):
        raise common.invalid(f"{by} is Static and has no privateIPAddress.")
    common.pick(write, of, "privateIPAddressVersion", ("IPv4",), "IPv4")
    return subnet, of["privateIPAddress"] if static else None, by


def _check(write: Write) -> None:
    common.name(write)
    properties = write.properties
    listed = common.listed(write, "ipConfigurations", CONFIGURATION)
    if not listed:
        raise common.invalid(f"Network interface {write.id.text} has no ipConfigurations.")
    if properties.get("networkSecurityGroup"):
        require(write, properties["networkSecurityGroup"], "properties.networkSecurityGroup.id", *_groups())
        common.only_id(properties, "networkSecurityGroup")
    wishes = [_configuration(write, one["properties"], one["id"]) for one in listed]
    if len({subnet.id.parent for subnet, _, _ in wishes}) > 1:
        raise common.invalid(f"The configurations of {write.id.text} are in several virtual networks.")
    _one_primary(write, listed)
    for one, allotted in zip(listed, addresses.allot(write.world, write.new, wishes), strict=True):
        one["properties"]["privateIPAddress"] = allotted.address
    for at in ("enableAcceleratedNetworking", "enableIPForwarding"):
        properties.setdefault(at, False)
    properties.setdefault("dnsSettings", {}).setdefault("dnsServers", [])
    properties.setdefault("nicType", "Standard")
    properties["macAddress"] = write.old.properties["macAddress"] if write.old else mac()
    common.guid(write)


def _groups() -> tuple[str, ...]:
    from .security import GROUP

    return (GROUP,)


def _configuration(write: Write, of: dict[str, Any], by: str) -> tuple[Resource, str | None, str]:
    subnet = settle_subnet(write, of, "properties.ipConfigurations")
    if ids.same(subnet.id.name, GATEWAY):
        raise common.invalid(f"{by} is in {subnet.id.text}, which is a gateway's.")
    if of.get("publicIPAddress"):
        require_public(write, of["publicIPAddress"], "properties.ipConfigurations.publicIPAddress.id")
        common.only_id(of, "publicIPAddress")
    for pool in of.get("loadBalancerBackendAddressPools") or ():
        require_part(
            write, pool, "properties.ipConfigurations.loadBalancerBackendAddressPools.id", "backendAddressPools"
        )
    for group in of.get("applicationSecurityGroups") or ():
        require(write, group, "properties.ipConfigurations.applicationSecurityGroups.id")
    return wish(write, of, subnet, by)


def _one_primary(write: Write, listed: list[dict[str, Any]]) -> None:
    primary = [one for one in listed if one["properties"].get("primary")]
    if len(primary) > 1 or (len(listed) > 1 and not primary):
        raise common.invalid(f"Of the configurations of {write.id.text} one must be primary, and no more.")
    for one in listed:
        one["properties"]["primary"] = not primary or one is primary[0]


def require_part(write: Write, value: Any, at: str, property_: str) -> None:
    """A named configuration in what another resource lists, such as a balancer's pool. Raises ArmError."""
    id_ = id_of(write, value, at)
    owner = write.world.store.find(id_.parent) if id_.parent else None
    listed = owner.properties.get(property_, ()) if owner else ()
    if owner is None or not any(ids.same(one.get("id"), id_.text) for one in listed):
        message = (
            f"Resource {id_.text} referenced by resource {write.id.text} was not found. Please make sure that the "
            "referenced resource exists, and that both resources are in the same region."
        )
        raise bad_request("InvalidResourceReference", message)
    refuse_busy(write, owner)


def mac() -> str:
    """One that Azure's machines could have: 00-0D-3A is Microsoft's."""
    return "-".join(("00", "0D", "3A", *(uuid.uuid4().hex[n : n + 2].upper() for n in (0, 2, 4))))


def _computed(world: World, interface: Resource) -> dict[str, Any]:
    """Whose it is: Microsoft.Compute/virtualMachines list theirs, and endpoints theirs."""
    for other in world.store.users(interface):
        if ids.same(other.id.type, "Microsoft.Compute/virtualMachines"):
            return {"virtualMachine": {"id": other.id.text}, "primary": True}
        if ids.same(other.id.type, "Microsoft.Network/privateEndpoints"):
            return {"privateEndpoint": {"id": other.id.text}}
    return {}


KINDS = (
    Kind(
        INTERFACE,
        check=_check,
        computed=_computed,
        known=KNOWN,
        read_only=READ_ONLY,
        slow=SLOW,
        in_use="NicInUse",
    ),
)
