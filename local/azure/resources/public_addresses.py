"""Public addresses and NAT gateways."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Any

from .. import ids
from ..errors import bad_request
from ..kinds import SLOW, Kind, World, Write
from ..references import require
from ..store import Resource
from . import common

ADDRESS, NAT = "Microsoft.Network/publicIPAddresses", "Microsoft.Network/natGateways"
# RFC 5737: TEST-NET-2, for the local AWS begins with TEST-NET-3; then of what RFC 2544 keeps for benchmarks.
SPACES = tuple(IPv4Network(one) for one in ("198.51.100.0/24", "198.19.0.0/16"))
KNOWN = frozenset(
    (
        *("publicIPAllocationMethod", "publicIPAddressVersion", "idleTimeoutInMinutes", "ddosSettings", "ipTags"),
        *("dnsSettings", "deleteOption"),
    )
)
READ_ONLY = ("ipAddress", "ipConfiguration", "natGateway", "resourceGuid")


def _address(write: Write) -> None:
    common.name(write)
    properties = write.properties
    if common.sku(write, "Standard", "Basic", default="Basic") == "Basic":
        message = (
            "Cannot create more than 0 IPv4 Basic SKU public IP addresses for this subscription in this region. Basic "
            "SKU public IP addresses were retired on 30 September 2025."
        )
        raise bad_request("IPv4BasicSkuPublicIpCountLimitReached", message)
    common.pick(write, properties, "publicIPAddressVersion", ("IPv4",), "IPv4")
    if common.pick(write, properties, "publicIPAllocationMethod", ("Static", "Dynamic"), "Dynamic") == "Dynamic":
        raise common.invalid(f"Standard sku publicIp {write.id.text} must have AllocationMethod set to Static.")
    common.zones(write)
    common.number(write, properties, "idleTimeoutInMinutes", 4, 30, 4)
    properties.setdefault("ipTags", [])
    common.guid(write)
    properties["ipAddress"] = write.old.properties["ipAddress"] if write.old else _free(write.world)
    if dns := properties.get("dnsSettings"):
        dns["fqdn"] = f"{dns.get('domainNameLabel')}.{write.new.location}.cloudapp.azure.com"


def _free(world: World) -> str:
    taken = {one.properties.get("ipAddress") for one in world.store.all(ADDRESS)}
    for space in SPACES:
        for address in space.hosts():
            if str(address) not in taken:
                return str(address)
    raise AssertionError("no public address is left")


def user(world: World, address: Resource) -> tuple[str, Resource] | None:
    """The configuration, or the NAT gateway, that has the address: its id, and the resource."""
    for other in world.store.users(address):
        for id_, wanted in _uses(other):
            if ids.same(wanted, address.id.text):
                return id_, other
    return None


def _uses(resource: Resource) -> Iterator[tuple[str, str]]:
    for at in ("ipConfigurations", "frontendIPConfigurations"):
        for one in resource.properties.get(at) or ():
            if public := one.get("properties", {}).get("publicIPAddress"):
                yield str(one["id"]), str(public["id"])
    for public in resource.properties.get("publicIpAddresses") or ():
        yield resource.id.text, str(public["id"])


def require_public(write: Write, value: Any, at: str) -> Resource:
    """A free one, or one's own. Raises ArmError."""
    found = require(write, value, at, ADDRESS)
    has = user(write.world, found)
    if has and has[1].id.key != write.id.key:
        message = (
            f"Resource {write.id.text} is referencing public IP address {found.id.text} that is already allocated to "
            f"resource {has[0]}."
        )
        raise bad_request("PublicIPAddressInUse", message)
    return found


def _computed(world: World, address: Resource) -> dict[str, Any]:
    has = user(world, address)
    if has is None:
        return {}
    return {"natGateway" if ids.same(has[1].id.type, NAT) else "ipConfiguration": {"id": has[0]}}


def _nat(write: Write) -> None:
    common.name(write)
    common.sku(write, "Standard", default="Standard")
    write.new.body["sku"].pop("tier")
    zones = common.zones(write)
    if len(zones) > 1:
        raise common.invalid(
            f"NAT gateway {write.id.text} has {len(zones)} zones: a Standard one is in one zone or none."
        )
    common.number(write, write.properties, "idleTimeoutInMinutes", 4, 120, 4)
    references = write.properties.get("publicIpAddresses") or []
    write.properties["publicIpAddresses"] = []
    for one in references:
        address = require_public(write, one, "properties.publicIpAddresses.id")
        theirs: list[str] = address.body.get("zones") or []
        if zones and len(theirs) == 1 and list(theirs) != zones:
            raise common.invalid(f"NAT gateway {write.id.text} is in zone {zones}, {address.id.text} in {theirs}.")
        write.properties["publicIpAddresses"].append({"id": address.id.text})
    common.guid(write)


def _computed_nat(world: World, nat: Resource) -> dict[str, Any]:
    users = [
        {"id": one.id.text}
        for one in world.store.all("Microsoft.Network/virtualNetworks/subnets")
        if ids.same((one.properties.get("natGateway") or {}).get("id"), nat.id.text)
    ]
    return {"subnets": users} if users else {}


KINDS = (
    Kind(
        ADDRESS,
        check=_address,
        computed=_computed,
        known=KNOWN,
        read_only=READ_ONLY,
        slow=SLOW,
        in_use="PublicIPAddressCannotBeDeleted",
    ),
    Kind(
        NAT,
        check=_nat,
        computed=_computed_nat,
        known=frozenset(("idleTimeoutInMinutes", "publicIpAddresses")),
        read_only=("subnets", "resourceGuid"),
        slow=SLOW,
    ),
)
