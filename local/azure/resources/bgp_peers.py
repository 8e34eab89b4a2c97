"""What a VPN gateway tells of those that it speaks BGP with: POST …/getBgpPeerStatus."""

from collections.abc import Iterator
from typing import Any

from .. import ids
from ..kinds import Turn

CONNECTION = "Microsoft.Network/connections"


def status(turn: Turn) -> dict[str, Any]:
    """Each instance with the other end of each connection, by the state of the tunnel that leads there."""
    return {"value": [one for connection in turn.world.store.all(CONNECTION) for one in _of(turn, connection)]}


def _of(turn: Turn, connection: Any) -> Iterator[dict[str, Any]]:
    told = connection.properties
    other = turn.world.store.find((told.get("localNetworkGateway2") or {}).get("id") or "")
    if not told["enableBgp"] or other is None or not ids.same(told["virtualNetworkGateway1"]["id"], turn.id.text):
        return
    instances = {one["ipconfigurationId"].lower(): one for one in turn.properties["bgpSettings"]["bgpPeeringAddresses"]}
    tunnels: dict[str, str] = connection.state.get("tunnels", {})
    for one in told["gatewayCustomBgpIpAddresses"]:
        outside = instances[one["ipConfigurationId"].lower()]["tunnelIpAddresses"]
        up = any(tunnels.get(address) == "Connected" for address in outside)
        yield {
            "localAddress": one["customBgpIpAddress"],
            "neighbor": other.properties["bgpSettings"]["bgpPeeringAddress"],
            "asn": other.properties["bgpSettings"]["asn"],
            "state": "Connected" if up else "Connecting",
            # Nobody speaks in the local cloud's tunnels.
            "routesReceived": 0,
            "messagesSent": 0,
            "messagesReceived": 0,
        }
