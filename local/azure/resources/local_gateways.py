"""Local network gateways: what Azure is told of a gateway that is not Azure's, and of the networks behind it."""

from ipaddress import IPv4Address
from typing import Any

from ..kinds import SLOW, Kind, Write
from . import common, vpn_gateways

LOCAL = "Microsoft.Network/localNetworkGateways"
KNOWN = frozenset(("localNetworkAddressSpace", "gatewayIpAddress", "fqdn", "bgpSettings"))


def _check(write: Write) -> None:
    common.name(write)
    properties = write.properties
    if bool(properties.get("gatewayIpAddress")) == bool(properties.get("fqdn")):
        raise common.invalid(f"{write.id.text} needs one of gatewayIpAddress and fqdn.")
    if properties.get("gatewayIpAddress"):
        _address(write, properties["gatewayIpAddress"], "gatewayIpAddress")
    space: dict[str, Any] = properties.setdefault("localNetworkAddressSpace", {})
    space["addressPrefixes"] = list(space.get("addressPrefixes") or ())
    spaces = [common.network(one, write.id.text) for one in space["addressPrefixes"]]
    if any(one.overlaps(other) for n, one in enumerate(spaces) for other in spaces[:n]):
        raise common.invalid(f"Address prefixes of {write.id.text} overlap each other.")
    if bgp := properties.get("bgpSettings"):
        if strange := sorted(bgp.keys() - vpn_gateways.BGP):
            raise common.invalid(
                f"Could not find member '{strange[0]}' at 'properties.bgpSettings' of {write.id.text}."
            )
        vpn_gateways.asn(write, bgp.get("asn"))
        _address(write, bgp.get("bgpPeeringAddress"), "bgpSettings.bgpPeeringAddress")
        common.number(write, bgp, "peerWeight", 0, 100, 0)
    if not spaces and not bgp:
        raise common.invalid(f"{write.id.text} has neither address prefixes nor bgpSettings: nothing is behind it.")
    common.guid(write)


def _address(write: Write, text: Any, at: str) -> IPv4Address:
    try:
        return IPv4Address(text)
    except ValueError:
        raise common.invalid(f"{write.id.text}: {at} is {text!r}, which is no IPv4 address.") from None


KINDS = (Kind(LOCAL, check=_check, known=KNOWN, read_only=("resourceGuid",), slow=SLOW),)
