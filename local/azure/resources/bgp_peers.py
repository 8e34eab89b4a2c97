"""What a VPN gateway tells of those that it speaks BGP with: POST …/getBgpPeerStatus."""

from collections.abc import Iterator
from typing import Any

from .. import ids
from ..kinds import Write

CONNECTION = "Microsoft.Network/connections"


def status(write: Write) -> dict[str, Any]:
    """Each instance with the other end of each connection, by the state of the tunnel that leads there."""
    return {"value": [one for connection in write.world.store.all(CONNECTION) for one in _of(write, connection)]}


def tunnels(connection: Any) -> dict[str, str]:
    """How they are, by public address of the gateway's end: as somebody asked for, or as their ends are."""
    ends: dict[str, int | None] = connection.state.get("ends", {})
    states = {address: "NotConnected" if prefixes is None else "Connected" for address, prefixes in ends.items()}
    return {**states, **connection.state.get("asked", {})}


def _of(write: Write, connection: Any) -> Iterator[dict[str, Any]]:
    properties = connection.properties
    other = write.world.store.find((properties.get("localNetworkGateway2") or {}).get("id") or "")
    if (
        not properties["enableBgp"]
        or other is None
        or not ids.same(properties["virtualNetworkGateway1"]["id"], write.id.text)
    ):
        return
    instances = {
        one["ipconfigurationId"].lower(): one for one in write.properties["bgpSettings"]["bgpPeeringAddresses"]
    }
    states, heard = tunnels(connection), connection.state.get("ends", {})
    for one in properties["gatewayCustomBgpIpAddresses"]:
        outside = instances[one["ipConfigurationId"].lower()]["tunnelIpAddresses"]
        up = any(states.get(address) == "Connected" for address in outside)
        yield {
            "localAddress": one["customBgpIpAddress"],
            "neighbor": other.properties["bgpSettings"]["bgpPeeringAddress"],
            "asn": other.properties["bgpSettings"]["asn"],
            "state": "Connected" if up else "Connecting",
            "routesReceived": sum(heard.get(address) or 0 for address in outside) if up else 0,
            # Nobody speaks in the local cloud's tunnels: routes are reckoned.
            "messagesSent": 0,
            "messagesReceived": 0,
        }
