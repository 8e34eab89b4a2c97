"""What a VPN gateway tells of those that it speaks BGP with: POST …/getBgpPeerStatus."""

from collections.abc import Iterator
from typing import Any

from .. import ids
from ..kinds import World, Write
from ..store import Resource

CONNECTION = "Microsoft.Network/connections"
CONNECTED, CONNECTING = "Connected", "Connecting"
# What one may ask for of a tunnel beside Azure's own states: keys agree, and nobody speaks BGP in it.
SILENT = "Silent"


def status(write: Write) -> dict[str, Any]:
    """Each instance with the other end of each connection, by the state of the tunnel that leads there."""
    return {"value": of_gateway(write.world, write.new)}


def of_gateway(world: World, gateway: Resource) -> list[dict[str, Any]]:
    return [one for connection in world.store.all(CONNECTION) for one in _of(world, gateway, connection)]


def tunnels(connection: Any) -> dict[str, str]:
    """How they are, by public address of the gateway's end: as somebody asked for, or as their ends are."""
    ends: dict[str, int | None] = connection.state.get("ends", {})
    states = {address: "NotConnected" if prefixes is None else "Connected" for address, prefixes in ends.items()}
    return {**states, **connection.state.get("asked", {})}


def keys(connection: Any) -> dict[str, str]:
    """How they are by Azure's word of connections, which is about keys alone."""
    return {address: CONNECTED if one == SILENT else one for address, one in tunnels(connection).items()}


def _of(world: World, gateway: Resource, connection: Any) -> Iterator[dict[str, Any]]:
    properties = connection.properties
    other = world.store.find((properties.get("localNetworkGateway2") or {}).get("id") or "")
    if (
        not properties["enableBgp"]
        or other is None
        or not ids.same(properties["virtualNetworkGateway1"]["id"], gateway.id.text)
    ):
        return
    instances = {
        one["ipconfigurationId"].lower(): one for one in gateway.properties["bgpSettings"]["bgpPeeringAddresses"]
    }
    states, heard = tunnels(connection), connection.state.get("ends", {})
    for one in properties["gatewayCustomBgpIpAddresses"]:
        outside = instances[one["ipConfigurationId"].lower()]["tunnelIpAddresses"]
        up = any(states.get(address) == CONNECTED for address in outside)
        yield {
            "localAddress": one["customBgpIpAddress"],
            "neighbor": other.properties["bgpSettings"]["bgpPeeringAddress"],
            "asn": other.properties["bgpSettings"]["asn"],
            "state": CONNECTED if up else CONNECTING,
            "routesReceived": sum(heard.get(address) or 0 for address in outside) if up else 0,
            # Nobody speaks in the local cloud's tunnels: routes are reckoned.
            "messagesSent": 0,
            "messagesReceived": 0,
        }
