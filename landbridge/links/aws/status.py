"""What AWS says of links: the telemetry of its VPN connections' tunnels, and its peering attachments."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from components.links.plan import Peering
from components.tags import Owner
from stacks.catalogue import LINKS

from ..info import Connections
from ..tunnel_status import AVAILABLE, DOWN, UNKNOWN, UP, Published, States, TunnelStatus, whose


def tunnels(links: Connections, region: str, mine: Published) -> Iterator[TunnelStatus]:
    try:
        found = links.of(region)("ec2").describe_vpn_connections(VpnConnectionIds=sorted(mine))["VpnConnections"]
    except (ClientError, BotoCoreError) as error:
        why = f"{region} can't be asked: {error}"
        for one in mine.values():
            yield from (_tunnel_status(name, one, at, {}, why) for name, at in one["hub_addresses"].items())
        return
    states = {one["VpnConnectionId"]: {t["OutsideIpAddress"]: t for t in one.get("VgwTelemetry", ())} for one in found}
    for id_, one in mine.items():
        for name, at in one["hub_addresses"].items():
            yield _tunnel_status(
                name, one, at, states.get(id_, {}).get(at, {}), f"{region} has no such connection any more"
            )


def _tunnel_status(
    name: str, one: Mapping[str, Any], address: str, telemetry: Mapping[str, Any], why: str
) -> TunnelStatus:
    head = whose(name, one, address)
    if not telemetry:
        return TunnelStatus(*head, UNKNOWN, why)
    state, message = UP if telemetry["Status"] == "UP" else DOWN, str(telemetry.get("StatusMessage", ""))
    return TunnelStatus(
        *head, state, message, telemetry.get("LastStatusChange"), int(telemetry.get("AcceptedRouteCount", 0))
    )


def peerings(links: Connections, planned: Collection[Peering]) -> States:
    """By their tag Name, of which there may be others that are gone."""
    states = dict[str, str]()
    names = {one: Owner(links.world.fleet.fleet, "", LINKS).tags(f"{one.here}-{one.there}")["Name"] for one in planned}
    for region in dict.fromkeys(one.here for one in planned):
        try:
            found = links.of(region)("ec2").describe_transit_gateway_peering_attachments()
        except (ClientError, BotoCoreError):
            states |= {name: UNKNOWN for one, name in names.items() if one.here == region}
            continue
        for attachment in found["TransitGatewayPeeringAttachments"]:
            named = {tag["Key"]: tag["Value"] for tag in attachment.get("Tags", ())}.get("Name", "")
            if states.get(named) != AVAILABLE:
                states[named] = str(attachment["State"])
    return {one: states[name] for one, name in names.items() if name in states}
