"""Connections of VPN gateways: tunnels with a site's or another cloud's gateway, or with another of Azure's."""

import secrets
from ipaddress import IPv4Network
from typing import Any

from .. import ids
from ..errors import ArmError
from ..kinds import SLOW, Kind, World, Write
from ..references import require
from ..store import Resource
from . import bgp_peers, common, vpn_gateways
from .local_gateways import LOCAL
from .vpn_gateways import CONNECTION, GATEWAY

KNOWN = frozenset(
    (
        *("virtualNetworkGateway1", "virtualNetworkGateway2", "localNetworkGateway2", "connectionType", "sharedKey"),
        *("connectionProtocol", "routingWeight", "dpdTimeoutSeconds", "connectionMode", "enableBgp", "ipsecPolicies"),
        *("gatewayCustomBgpIpAddresses", "useLocalAzureIpAddress", "usePolicyBasedTrafficSelectors"),
        *("trafficSelectorPolicies", "expressRouteGatewayBypass", "enablePrivateLinkFastPath", "authenticationType"),
    )
)
READ_ONLY = (
    *("connectionStatus", "tunnelConnectionStatus", "egressBytesTransferred", "ingressBytesTransferred"),
    *("resourceGuid", "tunnelProperties", "peer"),
)
# Azure docs, "About cryptographic requirements": what a policy may say; GCM is no key exchange's integrity alone.
POLICY: dict[str, tuple[str, ...]] = {
    "ipsecEncryption": (*("GCMAES256", "GCMAES192", "GCMAES128", "AES256", "AES192", "AES128", "DES3", "DES", "None"),),
    "ipsecIntegrity": ("GCMAES256", "GCMAES192", "GCMAES128", "SHA256", "SHA1", "MD5"),
    "ikeEncryption": ("GCMAES256", "GCMAES128", "AES256", "AES192", "AES128", "DES3", "DES"),
    "ikeIntegrity": ("GCMAES256", "GCMAES128", "SHA384", "SHA256", "SHA1", "MD5"),
    "dhGroup": ("DHGroup24", "ECP384", "ECP256", "DHGroup14", "DHGroup2048", "DHGroup2", "DHGroup1", "None"),
    "pfsGroup": ("PFS24", "ECP384", "ECP256", "PFS2048", "PFS14", "PFS2", "PFS1", "PFSMM", "None"),
}
LIFETIMES = {"saLifeTimeSeconds": (300, 172_799), "saDataSizeKilobytes": (1_024, 2_147_483_647)}
KEY_MOST = 128


def _check(write: Write) -> None:
    common.name(write)
    properties = write.properties
    kind = common.pick(write, properties, "connectionType", ("IPsec", "Vnet2Vnet"))
    gateway = require(write, properties.get("virtualNetworkGateway1"), "properties.virtualNetworkGateway1.id", GATEWAY)
    at = "localNetworkGateway2" if kind == "IPsec" else "virtualNetworkGateway2"
    near = kind == "IPsec"
    other = require(write, properties.get(at), f"properties.{at}.id", LOCAL if near else GATEWAY, near=near)
    if gateway.id.key == other.id.key:
        raise common.invalid(f"{write.id.text} connects a gateway with itself.")
    for property_ in ("virtualNetworkGateway1", at):
        common.only_id(properties, property_)
    for one in write.world.store.all(CONNECTION):
        ends = [(one.properties.get(end) or {}).get("id") for end in ("virtualNetworkGateway1", at)]
        if one.id.key != write.id.key and [str(end).lower() for end in ends] == [gateway.id.key, other.id.key]:
            raise common.invalid(f"{gateway.id.text} and {other.id.text} are connected already, by {one.id.text}.")
    common.pick(write, properties, "connectionProtocol", ("IKEv2", "IKEv1"), "IKEv2")
    common.pick(write, properties, "connectionMode", ("Default", "InitiatorOnly", "ResponderOnly"), "Default")
    common.number(write, properties, "routingWeight", 0, 32_000, 0)
    if properties.get("dpdTimeoutSeconds"):  # 0 is Azure's 45
        common.number(write, properties, "dpdTimeoutSeconds", 9, 3_600)
    properties.setdefault("dpdTimeoutSeconds", 0)
    for flag in ("enableBgp", "useLocalAzureIpAddress", "usePolicyBasedTrafficSelectors"):
        if not isinstance(properties.setdefault(flag, False), bool):
            raise common.invalid(f"{write.id.text}: {flag} must be true or false.")
    properties.setdefault("trafficSelectorPolicies", [])
    _policies(write)
    _routes(write, gateway, other)
    _custom(write, gateway)
    _key(write, properties.get("sharedKey"))
    common.guid(write)


def _policies(write: Write) -> None:
    policies = write.properties.setdefault("ipsecPolicies", [])
    if len(policies) > 1:
        raise common.invalid(f"{write.id.text} has {len(policies)} ipsecPolicies; a connection has one at most.")
    for one in policies:
        if strange := sorted(one.keys() - POLICY.keys() - LIFETIMES.keys()):
            raise common.invalid(
                f"Could not find member '{strange[0]}' at 'properties.ipsecPolicies' of {write.id.text}."
            )
        for at, allowed in POLICY.items():
            common.pick(write, one, at, allowed)
        for at, (least, most) in LIFETIMES.items():
            common.number(write, one, at, least, most)
        gcm = [one[at] for at in ("ipsecEncryption", "ipsecIntegrity") if one[at].startswith("GCM")]
        if gcm and one["ipsecEncryption"] != one["ipsecIntegrity"]:
            raise common.invalid(f"{write.id.text}: {gcm[0]} must be both ipsecEncryption and ipsecIntegrity.")


def _routes(write: Write, gateway: Resource, other: Resource) -> None:
    """How it knows what is behind the other end."""
    if write.properties["enableBgp"]:
        for one in (gateway, other):
            has = (
                one.properties.get("enableBgp") if ids.same(one.id.type, GATEWAY) else one.properties.get("bgpSettings")
            )
            if not has:
                raise common.invalid(f"{write.id.text} has enableBgp, and {one.id.text} has no BGP.")
        if gateway.properties["bgpSettings"]["asn"] == other.properties["bgpSettings"]["asn"]:
            raise common.invalid(f"{write.id.text}: both ends have the ASN {gateway.properties['bgpSettings']['asn']}.")
        return
    if not ids.same(other.id.type, LOCAL):
        return
    behind = [IPv4Network(one) for one in other.properties["localNetworkAddressSpace"]["addressPrefixes"]]
    if not behind:
        raise common.invalid(f"{write.id.text} has no BGP, and {other.id.text} no address prefixes.")
    network = vpn_gateways.network_of(write.world, gateway)
    for text in network.properties["addressSpace"]["addressPrefixes"]:
        if any(IPv4Network(text).overlaps(one) for one in behind):
            raise common.invalid(f"{write.id.text}: prefixes of {other.id.text} overlap {text} of {network.id.text}.")


def _custom(write: Write, gateway: Resource) -> None:
    """One address for each of the gateway's instances, of those that the gateway has for it."""
    custom = write.properties.setdefault("gatewayCustomBgpIpAddresses", [])
    if not custom:
        return
    if not write.properties["enableBgp"]:
        raise common.invalid(f"{write.id.text} has gatewayCustomBgpIpAddresses without enableBgp.")
    has = {
        one["ipconfigurationId"].lower(): one["customBgpIpAddresses"]
        for one in gateway.properties["bgpSettings"]["bgpPeeringAddresses"]
    }
    named = [str(one.get("ipConfigurationId")).lower() for one in custom]
    if sorted(named) != sorted(has):
        raise common.invalid(f"{write.id.text} needs a custom BGP address for each of: {', '.join(sorted(has))}.")
    for one in custom:
        id_, address = one["ipConfigurationId"], one.get("customBgpIpAddress")
        if address not in has[id_.lower()]:
            raise common.invalid(f"{write.id.text}: {address} is no custom BGP address of {id_}.")


def _key(write: Write, key: Any) -> None:
    if key is None and write.old is None:
        write.properties["sharedKey"] = secrets.token_urlsafe(32)
    elif key is not None and not (isinstance(key, str) and 1 <= len(key) <= KEY_MOST and key.isascii()):
        raise common.invalid(f"{write.id.text}: a sharedKey has 1 to {KEY_MOST} characters of ASCII.")


def shared_key(write: Write, method: str) -> dict[str, Any]:
    """…/sharedkey: the one thing that tells the key."""
    if method == "PUT":
        value = write.body.get("value")
        if value is None:
            raise common.invalid(f"{write.id.text}: a shared key needs a value.")
        _key(write, value)
        write.new.properties["sharedKey"] = value
        write.new.changed()
    return {"value": write.new.properties["sharedKey"], "id": f"{write.id.text}/sharedkey"}


def _computed(world: World, connection: Resource) -> dict[str, Any]:
    gateway = world.store.find(connection.properties["virtualNetworkGateway1"]["id"])
    tunnels = bgp_peers.keys(connection)
    addresses = [
        address
        for one in (gateway.properties["bgpSettings"]["bgpPeeringAddresses"] if gateway else ())
        for address in one["tunnelIpAddresses"]
    ]
    states = [tunnels.get(address, "NotConnected") for address in addresses]
    best = next((one for one in ("Connected", "Connecting", "NotConnected") if one in states), "Unknown")
    return {
        "connectionStatus": best,
        "tunnelConnectionStatus": [
            {"tunnel": f"{connection.id.name}_{address}", "connectionStatus": state}
            for address, state in zip(addresses, states, strict=True)
        ],
        "egressBytesTransferred": 0,
        "ingressBytesTransferred": 0,
    }


def set_tunnels(world: World, id_: str, tunnels: dict[str, str]) -> dict[str, str]:
    """Has tunnels seen so, whoever is at the other end; those that are not said are as that is. `Silent` is
    a tunnel whose keys agree and in which nobody speaks BGP. Raises ValueError.
    """
    try:
        connection = world.store.get(id_)
    except ArmError as error:
        raise ValueError(error.message) from None
    connection.state = {**connection.state, "asked": dict(tunnels)}
    return tunnels


def tell(world: World, ends: dict[str, dict[str, int | None]]) -> list[str]:
    """What whoever runs the tunnels sees: by connection and address, how many prefixes BGP takes; None: down.

    Gives the connections that are there.
    """
    known = [one for id_ in ends if (one := world.store.find(id_))]
    for connection in known:
        connection.state = {**connection.state, "ends": dict(ends[connection.id.text])}
    return [one.id.text for one in known]


KINDS = (
    Kind(
        CONNECTION,
        check=_check,
        computed=_computed,
        known=KNOWN,
        read_only=READ_ONLY,
        hidden=("sharedKey",),
        views={"sharedkey": shared_key},
        slow=SLOW,
    ),
)
