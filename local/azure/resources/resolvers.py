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


def _resolver(turn: Write) -> None:
    common.name(turn)
    network = require(turn, turn.properties.get("virtualNetwork"), "properties.virtualNetwork.id", NETWORK)
    common.only_id(turn.properties, "virtualNetwork")
    for other in turn.world.store.all(RESOLVER):
        if other.id.key != turn.id.key and ids.same(other.properties["virtualNetwork"]["id"], network.id.text):
            raise common.invalid(f"{network.id.text} has a resolver already: {other.id.text}.")
    turn.properties["dnsResolverState"] = "Connected"
    common.guid(turn)


def _keep(turn: Write) -> None:
    common.refuse_nested(turn, INBOUND)
    common.refuse_nested(turn, OUTBOUND)


def _inbound(turn: Write) -> None:
    common.name(turn)
    configurations = turn.properties.get("ipConfigurations") or []
    if len(configurations) != 1 or set(configurations[0]) - CONFIGURATION:
        raise common.invalid(f"{turn.id.text} needs one of ipConfigurations, with {', '.join(sorted(CONFIGURATION))}.")
    one = configurations[0]
    other = {"privateIPAllocationMethod": one.get("privateIpAllocationMethod")} | {
        "privateIPAddress": one.get("privateIpAddress")
    }
    if other["privateIPAllocationMethod"] is None:
        other.pop("privateIPAllocationMethod")
    one["privateIpAddress"] = end(turn, one, "properties.ipConfigurations", other)
    one["privateIpAllocationMethod"] = other["privateIPAllocationMethod"]
    common.guid(turn)


def end(turn: Write, of: dict[str, Any], at: str, wanted: dict[str, Any] | None) -> str:
    """The address of an endpoint in the subnet that `of` names, which nobody else may be in. Raises ArmError.

    `wanted` is as a network interface's configuration says it; None: any.
    """
    subnet = settle_subnet(turn, of, at, service=RESOLVER)
    if not ids.same(turn.parent.properties["virtualNetwork"]["id"], subnet.id.parent and subnet.id.parent.text):
        raise common.invalid(f"{turn.id.text}: subnet {subnet.id.text} is not in the resolver's network.")
    prefix = addresses.prefix(subnet)
    if not LARGEST <= prefix.prefixlen <= SMALLEST:
        raise common.invalid(f"{turn.id.text}: subnet {subnet.id.text} has a prefix outside /{LARGEST} to /{SMALLEST}.")
    if other := next(addresses.held(turn.world, subnet, turn.id), None):
        raise common.invalid(f"{turn.id.text}: {other.by} is in subnet {subnet.id.text} already.")
    by = f"{turn.id.text}/ipConfigurations/ipConfiguration"
    allotted = addresses.allot(
        turn.world, turn.new, [wish(turn, wanted, subnet, by) if wanted is not None else (subnet, None, by)]
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
