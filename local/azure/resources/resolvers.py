"""DNS private resolvers and the addresses at which they answer what comes from outside; `forwarding` has the others."""

from typing import Any

from .. import addresses, ids
from ..kinds import SLOW, Kind, Write
from ..references import require
from . import common
from .interfaces import settle_subnet, wish

RESOLVER = "Microsoft.Network/dnsResolvers"
INBOUND, OUTBOUND = f"{RESOLVER}/inboundEndpoints", f"{RESOLVER}/outboundEndpoints"
NETWORK = "Microsoft.Network/virtualNetworks"
# Azure docs, "Azure DNS Private Resolver", "Subnet restrictions".
LARGEST, SMALLEST = 24, 28
CONFIGURATION = frozenset(("subnet", "privateIpAddress", "privateIpAllocationMethod"))


def _resolver(write: Write) -> None:
    common.name(write)
    network = require(write, write.properties.get("virtualNetwork"), "properties.virtualNetwork.id", NETWORK)
    common.only_id(write.properties, "virtualNetwork")
    for other in write.world.store.all(RESOLVER):
        if other.id.key != write.id.key and ids.same(other.properties["virtualNetwork"]["id"], network.id.text):
            raise common.invalid(f"{network.id.text} has a resolver already: {other.id.text}.")
    write.properties["dnsResolverState"] = "Connected"
    common.guid(write)


def _keep(write: Write) -> None:
    common.refuse_nested(write, INBOUND)
    common.refuse_nested(write, OUTBOUND)


def _inbound(write: Write) -> None:
    common.name(write)
    configurations = write.properties.get("ipConfigurations") or []
    if len(configurations) != 1 or set(configurations[0]) - CONFIGURATION:
        raise common.invalid(f"{write.id.text} needs one of ipConfigurations, with {', '.join(sorted(CONFIGURATION))}.")
    one = configurations[0]
    other = {"privateIPAllocationMethod": one.get("privateIpAllocationMethod")} | {
        "privateIPAddress": one.get("privateIpAddress")
    }
    if other["privateIPAllocationMethod"] is None:
        other.pop("privateIPAllocationMethod")
    one["privateIpAddress"] = end(write, one, "properties.ipConfigurations", other)
    one["privateIpAllocationMethod"] = other["privateIPAllocationMethod"]
    common.guid(write)


def end(write: Write, of: dict[str, Any], at: str, wanted: dict[str, Any] | None) -> str:
    """The address of an endpoint in the subnet that `of` names, which nobody else may be in. Raises ArmError.

    `wanted` is as a network interface's configuration says it; None: any.
    """
    subnet = settle_subnet(write, of, at, service=RESOLVER)
    if not ids.same(write.parent.properties["virtualNetwork"]["id"], subnet.id.parent and subnet.id.parent.text):
        raise common.invalid(f"{write.id.text}: subnet {subnet.id.text} is not in the resolver's network.")
    prefix = addresses.prefix(subnet)
    if not LARGEST <= prefix.prefixlen <= SMALLEST:
        raise common.invalid(
            f"{write.id.text}: subnet {subnet.id.text} has a prefix outside /{LARGEST} to /{SMALLEST}."
        )
    if other := next(addresses.allocated(write.world, subnet, write.id), None):
        raise common.invalid(f"{write.id.text}: {other.by} is in subnet {subnet.id.text} already.")
    by = f"{write.id.text}/ipConfigurations/ipConfiguration"
    allotted = addresses.allot(
        write.world, write.new, [wish(write, wanted, subnet, by) if wanted is not None else (subnet, None, by)]
    )
    return allotted[0].address


KINDS = (
    Kind(
        RESOLVER,
        check=_resolver,
        removing=_keep,
        known=frozenset(("virtualNetwork",)),
        read_only=("dnsResolverState", "resourceGuid"),
        slow=SLOW,
    ),
    Kind(
        INBOUND,
        check=_inbound,
        known=frozenset(("ipConfigurations",)),
        read_only=("resourceGuid",),
        serial=True,
        slow=SLOW,
    ),
)
