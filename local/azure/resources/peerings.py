"""Peerings of virtual networks: two halves, Connected when each names the other's network."""

from ipaddress import IPv4Network
from typing import Any

from .. import ids
from ..errors import bad_request
from ..kinds import SLOW, Kind, World, Write
from ..references import require
from ..store import Resource
from . import common

NETWORK = "Microsoft.Network/virtualNetworks"
PEERING = "Microsoft.Network/virtualNetworks/virtualNetworkPeerings"
GATEWAY = "Microsoft.Network/virtualNetworkGateways"
FLAGS = {
    "allowVirtualNetworkAccess": True,
    "allowForwardedTraffic": False,
    "allowGatewayTransit": False,
    "useRemoteGateways": False,
}
KNOWN = frozenset(
    (*FLAGS, "remoteVirtualNetwork", "doNotVerifyRemoteGateways", "peerCompleteVnets", "enableOnlyIPv6Peering")
)
READ_ONLY = (
    *("peeringState", "peeringSyncLevel", "resourceGuid", "localAddressSpace", "localVirtualNetworkAddressSpace"),
    *("remoteAddressSpace", "remoteVirtualNetworkAddressSpace", "remoteBgpCommunities"),
    "remoteVirtualNetworkEncryption",
)


def _space(network: Resource) -> list[str]:
    return list(network.properties["addressSpace"]["addressPrefixes"])


def _overlap(one: Resource, other: Resource) -> list[str]:
    theirs = [IPv4Network(text) for text in _space(other)]
    return [text for text in _space(one) if any(IPv4Network(text).overlaps(their) for their in theirs)]


def remote_of(world: World, peering: Resource) -> Resource | None:
    return world.store.find(peering.properties["remoteVirtualNetwork"]["id"])


def back(world: World, peering: Resource) -> Resource | None:
    """The other half."""
    remote, here = remote_of(world, peering), peering.id.parent
    if remote is None or here is None:
        return None
    for one in world.store.children(remote, PEERING):
        if ids.same(one.properties["remoteVirtualNetwork"]["id"], here.text):
            return one
    return None


def has_gateway(world: World, network: Resource) -> bool:
    beginning = f"{network.id.key}/subnets/"
    for gateway in world.store.all(GATEWAY):
        for one in gateway.properties.get("ipConfigurations", ()):
            if str(one["properties"]["subnet"]["id"]).lower().startswith(beginning):
                return True
    return False


def _check(write: Write) -> None:
    common.name(write)
    remote = require(
        write, write.properties.get("remoteVirtualNetwork"), "properties.remoteVirtualNetwork.id", NETWORK, near=False
    )
    common.only_id(write.properties, "remoteVirtualNetwork")
    for at, default in FLAGS.items():
        if not isinstance(write.properties.setdefault(at, default), bool):
            raise common.invalid(f"{write.id.text}: {at} must be true or false.")
    start = f"Cannot create or update peering {write.id.text}."
    if remote.id.key == write.parent.id.key:
        raise common.invalid(f"{start} A virtual network cannot be peered with itself.")
    for other in write.siblings:
        if ids.same(other.properties["remoteVirtualNetwork"]["id"], remote.id.text):
            message = f"{start} Peering {other.id.text} references the same remote virtual network {remote.id.text}."
            raise bad_request("AnotherPeeringAlreadyReferencesRemoteVnet", message)
    _spaces_apart(write, remote, start)
    half = back(write.world, write.new)
    if half is not None and half.properties.get("peeringState") == "Disconnected":
        message = (
            f"Cannot create or update peering {write.id.text} because remote peering {half.id.text} referencing parent "
            f"virtual network {write.parent.id.text} is in Disconnected state. Update or re-create the remote peering "
            "to get it back to Initiated state."
        )
        raise bad_request("RemotePeeringIsDisconnected", message)
    _gateways(write, remote, half)
    common.guid(write)
    write.new.state = {**write.new.state, "remote": _space(remote)}


def _spaces_apart(write: Write, remote: Resource, start: str) -> None:
    here = write.parent
    if both := _overlap(here, remote):
        message = (
            f"{start} Virtual networks {here.id.text} and {remote.id.text} cannot be peered because their address "
            f"spaces overlap. Overlapping address prefixes: {', '.join(both)}"
        )
        raise bad_request("VnetAddressSpacesOverlap", message)
    for other in write.siblings:
        third = remote_of(write.world, other)
        if third and (both := _overlap(remote, third)):
            message = (
                f"{start} Virtual networks {here.id.text} and {remote.id.text} cannot be peered because address space "
                f"of the second virtual network overlaps with address space of virtual network {third.id.text} already "
                f"peered with the first virtual network. Overlapping address prefixes: {', '.join(both)}."
            )
            raise bad_request("VnetAddressSpaceOverlapsWithAlreadyPeeredVnet", message)


def _gateways(write: Write, remote: Resource, half: Resource | None) -> None:
    if not write.properties["useRemoteGateways"]:
        return
    if not has_gateway(write.world, remote):
        message = (
            f"Peering {write.id.text} cannot have UseRemoteGateway flag set to true because remote virtual network "
            f"{remote.id.text} referenced by the peering does not have any gateways."
        )
        raise bad_request("RemoteVnetHasNoGateways", message)
    if write.properties["allowGatewayTransit"] or has_gateway(write.world, write.parent):
        message = f"{write.id.text} cannot use remote gateways: its network has a gateway of its own, or gives transit."
        raise common.invalid(message)
    if half is not None and not half.properties["allowGatewayTransit"]:
        message = f"{write.id.text} cannot use remote gateways: {half.id.text} does not allow gateway transit."
        raise common.invalid(message)


def _settle(write: Write) -> None:
    half = back(write.world, write.new)
    write.properties["peeringState"] = "Connected" if half else "Initiated"
    if half:
        half.properties["peeringState"] = "Connected"


def _removed(write: Write) -> None:
    half = back(write.world, write.new)
    if half and half.properties.get("peeringState") == "Connected":
        half.properties["peeringState"] = "Disconnected"


def _computed(world: World, peering: Resource) -> dict[str, Any]:
    assert peering.id.parent is not None
    found: dict[str, Any] = {"doNotVerifyRemoteGateways": False, "peerCompleteVnets": True}
    synced, remote = peering.state["remote"], remote_of(world, peering)
    now = _space(remote) if remote else synced
    found["remoteAddressSpace"] = {"addressPrefixes": synced}
    found["remoteVirtualNetworkAddressSpace"] = {"addressPrefixes": now}
    half = back(world, peering)
    here = _space(world.store.get(peering.id.parent))
    levels = {
        (True, True): "FullyInSync",
        (True, False): "RemoteNotInSync",
        (False, True): "LocalNotInSync",
        (False, False): "LocalAndRemoteNotInSync",
    }
    found["peeringSyncLevel"] = levels[synced == now, half is not None and half.state["remote"] == here]
    return found


KINDS = (
    Kind(
        PEERING,
        tracked=False,
        check=_check,
        settle=_settle,
        removed=_removed,
        computed=_computed,
        known=KNOWN,
        read_only=READ_ONLY,
        serial=True,
        slow=SLOW,
    ),
)
