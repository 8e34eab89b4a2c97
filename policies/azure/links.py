"""Links on Azure: gateways that can carry BGP, other ends of the plan, one strong and whole policy a connection."""

from collections.abc import Iterator
from typing import Any

from fleet import hubs, regions
from fleet.address import reserved
from fleet.address.blocks import parse
from fleet.world import World

from ..reading import Finding, Item, finding, of_types, undecidable, unknown_in, values
from ..settings import Setting, judged

GATEWAY = "azure-native:network:VirtualNetworkGateway"
OTHER_END = "azure-native:network:LocalNetworkGateway"
CONNECTION = "azure-native:network:VirtualNetworkGatewayConnection"
# Those without AZ can't be made any more, and Basic has neither BGP nor policies of one's own.
SKUS = tuple(f"VpnGw{n}AZ" for n in range(1, 6))
BGP = Setting((True,), "Set it to true: routes come by BGP")
POLICY = "Take the fleet's policy (components/links/tunnel_settings.py): each field, and none weak"
ENCRYPTION, INTEGRITY = ("AES256", "GCMAES256"), ("SHA256", "SHA384", "GCMAES256")
# Azure's groups 1, 2 and 24 are too short or not to be trusted (RFC 8247).
GROUPS = ("DHGroup14", "DHGroup2048", "ECP256", "ECP384")


def _no_vpn(props: dict[str, Any]) -> bool:
    return props.get("gatewayType") == "ExpressRoute"


HUBS = {
    GATEWAY: {
        "sku.name": Setting(
            SKUS, f"Choose one of {', '.join(SKUS)}: no other carries BGP and outlives a zone", _no_vpn
        ),
        "enableBgp": BGP,
        "activeActive": Setting((True,), "Set it to true: both instances carry, and one outlives the other", _no_vpn),
        "vpnType": Setting(("RouteBased",), "Set it to RouteBased", _no_vpn),
    },
    CONNECTION: {
        "enableBgp": BGP,
        "connectionProtocol": Setting(("IKEv2",), "Set it to IKEv2"),
        "usePolicyBasedTrafficSelectors": Setting((False, None), "Set it to false: BGP says what goes through"),
        "ipsecPolicies.ikeEncryption": Setting(ENCRYPTION, POLICY),
        "ipsecPolicies.ikeIntegrity": Setting(INTEGRITY, POLICY),
        "ipsecPolicies.dhGroup": Setting(GROUPS, POLICY),
        "ipsecPolicies.ipsecEncryption": Setting(ENCRYPTION, POLICY),
        "ipsecPolicies.ipsecIntegrity": Setting(("SHA256", "GCMAES256"), POLICY),
        "ipsecPolicies.pfsGroup": Setting(("PFS14", "PFS2048", "ECP256", "ECP384"), POLICY),
    },
}
# Type → BGP numbers and BGP's addresses inside of tunnels.
NUMBERS = {GATEWAY: ("bgpSettings.asn",), OTHER_END: ("bgpSettings.asn",)}
INSIDE = {
    GATEWAY: ("bgpSettings.bgpPeeringAddresses.customBgpIpAddresses",),
    OTHER_END: ("bgpSettings.bgpPeeringAddress",),
    CONNECTION: ("gatewayCustomBgpIpAddresses.customBgpIpAddress",),
}
# Type → prefixes that would stand beside what BGP tells.
STATIC = {OTHER_END: ("localNetworkAddressSpace.addressPrefixes",)}
PLAN = "Take it from the address plan (`landbridge plan`)"


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    yield from judged(found, HUBS)
    for item in of_types(found, NUMBERS):
        yield from _number(item, world)
    for item in of_types(found, INSIDE):
        for path in INSIDE[item.type]:
            yield from _inside(item, path, world)
    for item in of_types(found, STATIC):
        for path in STATIC[item.type]:
            yield from _static(item, path)


def _number(item: Item, world: World) -> Iterator[Finding]:
    (path,) = NUMBERS[item.type]
    for asn in [*values(item.props, path)] or [None]:
        if unknown_in(asn):
            yield undecidable(item, path)
        elif asn in regions.AZURE_ASNS or asn in regions.IANA_ASNS:
            who = "Azure" if asn in regions.AZURE_ASNS else "IANA"
            yield finding(item, path, f"{path} {asn} is kept by {who}", "Take the fleet's (fleet/hubs.py, `sites`)")
        elif asn not in (known := _known(item, world)):
            what = f"{path} is {asn}, which is {'not the region' if item.type == GATEWAY else 'nobody'}'s"
            yield finding(item, path, what, f"Take one of {', '.join(str(one) for one in sorted(known))}")


def _known(item: Item, world: World) -> set[int]:
    """A gateway's is its region's; another end's is a site's or that of a region in another cloud."""
    own = [name for name, region in world.fleet.regions.items() if region.cloud == "azure"]
    if item.type == GATEWAY:
        return {hubs.asn(name) for name in own if item.stack not in own or name == item.stack}
    others = {hubs.asn(name) for name in world.fleet.regions}
    return others | {site.asn for site in world.fleet.sites.values()}


def _inside(item: Item, path: str, world: World) -> Iterator[Finding]:
    tunnels = [parse(cidr) for cidr in world.plan.tunnels.values()]
    for address in values(item.props, path):
        if unknown_in(address):
            yield undecidable(item, path)
            continue
        if not address:
            continue
        try:
            one = parse(f"{address}/32")
        except ValueError as error:
            yield finding(item, path, f"{path}: {error}", PLAN)
            continue
        if not any(parse(root).holds(one) for root in reserved.AZURE_TUNNEL_ROOTS):
            what = f"{path} {address} lies outside {' and '.join(reserved.AZURE_TUNNEL_ROOTS)}, which Azure takes alone"
            yield finding(item, path, what, PLAN)
        elif not any(tunnel.holds(one) for tunnel in tunnels):
            yield finding(item, path, f"{path} {address} is of no tunnel in the ledger", PLAN)


def _static(item: Item, path: str) -> Iterator[Finding]:
    for prefix in values(item.props, path):
        if unknown_in(prefix):
            yield undecidable(item, path)
        elif prefix:
            what = f"{path} {prefix} is a static route, whether its end is in reach or not"
            yield finding(item, path, what, "Leave it empty: BGP tells what there is")
