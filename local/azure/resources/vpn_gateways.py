"""VPN gateways of virtual networks, and what they say of BGP."""

from ipaddress import IPv4Address
from typing import Any

from .. import addresses, ids
from ..errors import bad_request
from ..ids import Id
from ..kinds import SLOW, Kind, World, Write
from ..references import require
from ..store import Resource
from . import bgp_peers, common
from .bgp_peers import CONNECTION as CONNECTION
from .public_addresses import require_public
from .subnets import GATEWAY as SUBNET_NAME
from .subnets import SUBNET

GATEWAY = "Microsoft.Network/virtualNetworkGateways"
SKUS = tuple(f"VpnGw{n}AZ" for n in range(1, 6))
# Which generations there are of a size (Azure docs, "About gateway SKUs").
GENERATIONS = {"1": ("Generation1",), "4": ("Generation2",), "5": ("Generation2",)}
BOTH = ("Generation1", "Generation2")
WITHOUT_ZONES = (*(f"VpnGw{n}" for n in range(1, 6)), "Standard", "HighPerformance")
SMALLEST = 27
DEFAULT_ASN = 65515
# Azure docs, "VPN Gateway FAQ", "BGP and routing": Azure's own, and IANA's.
RESERVED_ASNS = (8074, 8075, 12076, *range(65515, 65521), 23456, *range(64496, 64512), *range(65535, 65552))
APIPA = (IPv4Address("169.254.21.0"), IPv4Address("169.254.22.255"))
KNOWN = frozenset(
    (
        *("ipConfigurations", "gatewayType", "vpnType", "vpnGatewayGeneration", "enableBgp", "activeActive", "sku"),
        *(
            "enablePrivateIpAddress",
            "disableIPSecReplayProtection",
            "bgpSettings",
            "customRoutes",
            "allowVirtualWanTraffic",
        ),
        *("enableDnsForwarding", "allowRemoteVnetTraffic", "enableBgpRouteTranslationForNat", "adminState", "natRules"),
        "virtualNetworkGatewayPolicyGroups",
    )
)
READ_ONLY = ("resourceGuid", "inboundDnsForwardingEndpoint", "resiliencyModel")
CONFIGURATION = frozenset(("privateIPAllocationMethod", "subnet", "publicIPAddress"))
BGP = frozenset(("asn", "bgpPeeringAddress", "peerWeight", "bgpPeeringAddresses"))


def asn(write: Write, value: Any, *, own: bool = False) -> int:
    """`own`: it is a gateway's, which may have Azure's default."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 2**32:
        raise common.invalid(f"{write.id.text}: asn is {value!r}; it must be a number from 1 to 4294967295.")
    if value in RESERVED_ASNS and not (own and value == DEFAULT_ASN):
        raise common.invalid(f"{write.id.text}: ASN {value} is reserved by Azure or by IANA.")
    return value


def _check(write: Write) -> None:
    common.name(write)
    properties = write.properties
    common.pick(write, properties, "gatewayType", ("Vpn",))
    common.pick(write, properties, "vpnType", ("RouteBased",), "RouteBased")
    for at in ("enableBgp", "activeActive", "enablePrivateIpAddress", "disableIPSecReplayProtection"):
        if not isinstance(properties.setdefault(at, False), bool):
            raise common.invalid(f"{write.id.text}: {at} must be true or false.")
    _sku(write)
    listed = common.listed(write, "ipConfigurations", CONFIGURATION, ("privateIPAddress",))
    wanted = 2 if properties["activeActive"] else 1
    if len(listed) != wanted:
        raise common.invalid(
            f"Gateway {write.id.text} has {len(listed)} ipConfigurations; with activeActive "
            f"{properties['activeActive']} it needs {wanted}, each with a public address."
        )
    subnet = _configurations(write, listed)
    if wanted == 2:
        wishes: list[tuple[Resource, str | None, str]] = [(subnet, None, one["id"]) for one in listed]
    else:  # Azure's one instance has the last address that can be had
        wishes = [(subnet, str(addresses.prefix(subnet)[-2]), listed[0]["id"])]
    allotted = addresses.allot(write.world, write.new, wishes)
    _bgp(write, listed, [one.address for one in allotted])
    common.guid(write)


def _sku(write: Write) -> None:
    properties = write.properties
    sku = properties.setdefault("sku", {})
    if sku.get("name") in WITHOUT_ZONES:
        message = (
            "VpnGw1-5 non-AZ SKUs are no longer supported for VPN gateways. Only VpnGw1-5AZ SKUs can be created going "
            "forward."
        )
        raise bad_request("NonAzSkusNotAllowedForVPNGateway", message)
    if sku.get("name") not in SKUS:
        message = (
            f"Virtual network gateway Sku specified is not valid for gateway {write.id.text} with DeploymentType "
            f"VMScaleSet. The allowed Skus are {','.join(SKUS)}."
        )
        raise bad_request("InvalidGatewaySkuSpecifiedForGatewayDeploymentType", message)
    if sku.setdefault("tier", sku["name"]) != sku["name"]:
        raise common.invalid(f"{write.id.text}: sku tier {sku['tier']} is not its name {sku['name']}.")
    allowed = GENERATIONS.get(sku["name"][len("VpnGw")], BOTH)
    generation = common.pick(write, properties, "vpnGatewayGeneration", BOTH, allowed[0])
    if generation not in allowed:
        message = (
            f"The Virtual Network Gateway Sku {sku['name']} cannot be used when VirtualNetworkVpnGatewayGeneration is "
            f"set to {generation}."
        )
        raise bad_request("VirtualNetworkGatewaySkuCannotBeCreatedForSpecifiedVmGeneration", message)
    if write.old and write.old.properties["vpnGatewayGeneration"] != generation:
        raise common.invalid(f"The generation of gateway {write.id.text} cannot be changed.")
    sku["capacity"] = 2


def _configurations(write: Write, listed: list[dict[str, Any]]) -> Resource:
    """Their subnet, which must be one and a network's GatewaySubnet with no other gateway in it."""
    found: list[Resource] = []
    public: list[str] = []
    for one in listed:
        of, at = one["properties"], "properties.ipConfigurations"
        common.pick(write, of, "privateIPAllocationMethod", ("Dynamic",), "Dynamic")
        subnet = require(write, of.get("subnet"), f"{at}.subnet.id", SUBNET)
        if not ids.same(subnet.id.name, SUBNET_NAME):
            raise common.invalid(f"{one['id']}: a gateway's subnet is called GatewaySubnet, not {subnet.id.name}.")
        address = require_public(write, of.get("publicIPAddress"), f"{at}.publicIPAddress.id")
        if not address.body.get("zones"):
            message = "Standard Public IPs associated with VPN Gateways with AZ VPN skus must have zones configured."
            raise bad_request("VmssVpnGatewayPublicIpsMustHaveZonesConfigured", message)
        for property_ in ("subnet", "publicIPAddress"):
            common.only_id(of, property_)
        found.append(subnet)
        public.append(address.id.key)
    if len({one.id.key for one in found}) != 1 or len(set(public)) != len(public):
        raise common.invalid(f"The configurations of {write.id.text} need one subnet, and a public address each.")
    if addresses.prefix(found[0]).prefixlen > SMALLEST:
        raise common.invalid(
            f"{found[0].id.text} is smaller than the /{SMALLEST} that a gateway like {write.id.name} needs."
        )
    for entry in addresses.allocated(write.world, found[0], write.id):
        raise common.invalid(f"{found[0].id.text} has a gateway already: {entry.by}.")
    return found[0]


def _bgp(write: Write, listed: list[dict[str, Any]], private: list[str]) -> None:
    settings: dict[str, Any] = write.properties.setdefault("bgpSettings", {})
    if strange := sorted(settings.keys() - BGP):
        raise common.invalid(f"Could not find member '{strange[0]}' at 'properties.bgpSettings' of {write.id.text}.")
    settings["asn"] = asn(write, settings.get("asn", DEFAULT_ASN), own=True)
    common.number(write, settings, "peerWeight", 0, 100, 0)
    custom: dict[str, list[str]] = {one["id"].lower(): [] for one in listed}
    for one in settings.get("bgpPeeringAddresses") or ():
        key = str(one.get("ipconfigurationId") or "").lower()
        if key not in custom:
            raise common.invalid(f"{write.id.text}: '{one.get('ipconfigurationId')}' is no configuration of it.")
        custom[key] = [_apipa(write, text) for text in one.get("customBgpIpAddresses") or ()]
    every = [text for some in custom.values() for text in some]
    if len(set(every)) != len(every):
        raise common.invalid(f"{write.id.text} has a custom BGP address twice: {', '.join(every)}.")
    _still_used(write, custom)
    settings["bgpPeeringAddress"] = ",".join(private)
    settings["bgpPeeringAddresses"] = [
        {
            "ipconfigurationId": one["id"],
            "defaultBgpIpAddresses": [address],
            "customBgpIpAddresses": custom[one["id"].lower()],
            "tunnelIpAddresses": [
                write.world.store.get(one["properties"]["publicIPAddress"]["id"]).properties["ipAddress"]
            ],
        }
        for one, address in zip(listed, private, strict=True)
    ]


def _apipa(write: Write, text: Any) -> str:
    try:
        address = IPv4Address(text)
    except ValueError:
        raise common.invalid(f"{write.id.text}: custom BGP address '{text}' is no IPv4 address.") from None
    if not APIPA[0] <= address <= APIPA[1]:
        raise common.invalid(f"{write.id.text}: custom BGP address {text} is not from {APIPA[0]} to {APIPA[1]}.")
    return str(address)


def _still_used(write: Write, custom: dict[str, list[str]]) -> None:
    for connection in connections_of(write.world, write.id):
        for one in connection.properties.get("gatewayCustomBgpIpAddresses") or ():
            if one["customBgpIpAddress"] not in custom.get(one["ipConfigurationId"].lower(), ()):
                raise common.invalid(
                    f"{write.id.text}: {connection.id.text} uses the custom BGP address {one['customBgpIpAddress']}, "
                    "which this would take away."
                )


def connections_of(world: World, gateway: Id) -> list[Resource]:
    return [
        one
        for one in world.store.all(CONNECTION)
        for at in ("virtualNetworkGateway1", "virtualNetworkGateway2")
        if ids.same((one.properties.get(at) or {}).get("id"), gateway.text)
    ]


def network_of(world: World, gateway: Resource) -> Resource:
    """The virtual network that it is in."""
    subnet = ids.parse(gateway.properties["ipConfigurations"][0]["properties"]["subnet"]["id"])
    assert subnet.parent is not None
    return world.store.get(subnet.parent)


KINDS = (
    Kind(
        GATEWAY,
        check=_check,
        known=KNOWN,
        read_only=READ_ONLY,
        slow=SLOW,
        in_use="VirtualNetworkGatewayCannotBeDeleted",
        actions={"getBgpPeerStatus": bgp_peers.status},
        slow_actions=frozenset(("getBgpPeerStatus",)),
    ),
)
