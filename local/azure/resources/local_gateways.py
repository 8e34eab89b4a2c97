"""Local network gateways: what Azure is told of a gateway that is not Azure's, and of the networks behind it."""

from ipaddress import IPv4Address
from typing import Any

from ..kinds import SLOW, Kind, Write
from . import common, vpn_gateways

LOCAL = "Microsoft.Network/localNetworkGateways"
KNOWN = frozenset(("localNetworkAddressSpace", "gatewayIpAddress", "fqdn", "bgpSettings"))


def _check(turn: Write) -> None:
    common.name(turn)
    properties = turn.properties
    if bool(properties.get("gatewayIpAddress")) == bool(properties.get("fqdn")):
        raise common.invalid(f"{turn.id.text} needs one of gatewayIpAddress and fqdn.")
    if properties.get("gatewayIpAddress"):
        _address(turn, properties["gatewayIpAddress"], "gatewayIpAddress")
    space: dict[str, Any] = properties.setdefault("localNetworkAddressSpace", {})
    space["addressPrefixes"] = list(space.get("addressPrefixes") or ())
    spaces = [common.network(one, turn.id.text) for one in space["addressPrefixes"]]
    if any(one.overlaps(other) for n, one in enumerate(spaces) for other in spaces[:n]):
        raise common.invalid(f"Address prefixes of {turn.id.text} overlap each other.")
    if bgp := properties.get("bgpSettings"):
        if strange := sorted(bgp.keys() - vpn_gateways.BGP):
            raise common.invalid(f"Could not find member '{strange[0]}' at 'properties.bgpSettings' of {turn.id.text}.")
        vpn_gateways.asn(turn, bgp.get("asn"))
        _address(turn, bgp.get("bgpPeeringAddress"), "bgpSettings.bgpPeeringAddress")
        common.number(turn, bgp, "peerWeight", 0, 100, 0)
    if not spaces and not bgp:
        raise common.invalid(f"{turn.id.text} has neither address prefixes nor bgpSettings: nothing is behind it.")
    common.guid(turn)


def _address(turn: Write, text: Any, at: str) -> IPv4Address:
    try:
        return IPv4Address(text)
    except ValueError:
        raise common.invalid(f"{turn.id.text}: {at} is {text!r}, which is no IPv4 address.") from None


KINDS = (Kind(LOCAL, check=_check, known=KNOWN, read_only=("resourceGuid",), slow=SLOW),)
