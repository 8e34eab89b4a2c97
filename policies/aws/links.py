"""Links on AWS: strong and whole proposals on both tunnels, addresses of the plan, BGP."""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from fleet import hubs
from fleet.world import World

from ..reading import UNKNOWN, Finding, Item, finding, of_types, undecidable, unknown_in

CONNECTION = "aws:ec2/vpnConnection:VpnConnection"
STATIC = "aws:ec2/vpnConnectionRoute:VpnConnectionRoute"
ENCRYPTION, INTEGRITY = {"AES256", "AES256-GCM-16"}, {"SHA2-256", "SHA2-384", "SHA2-512"}
# RFC 8247: 2 and 5 are too short, 22 to 24 not to be trusted.
GROUPS = set(range(14, 22))
SET: frozenset[Any] = frozenset()
# Option of each tunnel → what it may be; SET: whatever the program says, but not what AWS takes for it. A tunnel whose
# options are left out is one with AES128, SHA1 and group 2.
OPTIONS: dict[str, Any] = {
    "IkeVersions": {"ikev2"},
    "Phase1EncryptionAlgorithms": ENCRYPTION,
    "Phase1IntegrityAlgorithms": INTEGRITY,
    "Phase1DhGroupNumbers": GROUPS,
    "Phase2EncryptionAlgorithms": ENCRYPTION,
    "Phase2IntegrityAlgorithms": INTEGRITY,
    "Phase2DhGroupNumbers": GROUPS,
    "Phase1LifetimeSeconds": SET,
    "Phase2LifetimeSeconds": SET,
    "DpdTimeoutAction": {"restart"},
    "DpdTimeoutSeconds": SET,
    "StartupAction": SET,
    "ReplayWindowSize": SET,
}
TUNNELS = (1, 2)
# Type → what is judged of it.
CONNECTIONS = {
    CONNECTION: (
        "staticRoutesOnly",
        "vpnGatewayId",
        *(f"tunnel{number}{option}" for number in TUNNELS for option in (*OPTIONS, "InsideCidr")),
    )
}
NUMBERS = {
    "aws:ec2/customerGateway:CustomerGateway": ("bgpAsn", "ipAddress"),
    "aws:ec2transitgateway/transitGateway:TransitGateway": ("amazonSideAsn",),
}
ROUTES = {"aws:ec2transitgateway/route:Route": ("destinationCidrBlock",)}
PLAN = "Take it from the address plan (`landbridge plan`)"
POLICY = "Take the fleet's policy (components/links/tunnel_settings.py) for both tunnels"
# A gateway of a site hears no more from a region (MOST_PREFIXES in components/links/gateway/bgp.py).
MOST_PREFIXES = 20
ASSOCIATION = "aws:ec2transitgateway/routeTableAssociation:RouteTableAssociation"
ADVERTISED = ("aws:ec2transitgateway/route:Route", "aws:ec2transitgateway/routeTablePropagation:RouteTablePropagation")


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    inside: dict[str, str] = {}
    for item in of_types(found, CONNECTIONS):
        yield from _way(item)
        for number in TUNNELS:
            for option, allowed in OPTIONS.items():
                yield from _option(item, f"tunnel{number}{option}", allowed)
            yield from _inside(item, f"tunnel{number}InsideCidr", world, inside)
    for item in of_types(found, [STATIC]):
        yield finding(item, "destinationCidrBlock", "it is a static route of a VPN connection", "Let BGP tell it")
    for item in of_types(found, NUMBERS):
        yield from _numbers(item, world)
    for item in of_types(found, ROUTES):
        yield from _route(item, world)
    yield from _advertised(found)


def _way(item: Item) -> Iterator[Finding]:
    static, other = item.props.get("staticRoutesOnly"), item.props.get("vpnGatewayId")
    if static is UNKNOWN:
        yield undecidable(item, "staticRoutesOnly")
    elif static is not False:
        what = f"staticRoutesOnly is {json.dumps(static)}: a dead tunnel is chosen by lot"
        yield finding(item, "staticRoutesOnly", what, "Set it to false, for BGP")
    if other is UNKNOWN:
        yield undecidable(item, "vpnGatewayId")
    elif other:
        what = "vpnGatewayId: a virtual private gateway takes 100 prefixes, and leads on to one network alone"
        yield finding(item, "vpnGatewayId", what, "Let it end at the region's transit gateway")


def _option(item: Item, path: str, allowed: Any) -> Iterator[Finding]:
    value = item.props.get(path)
    given = value if isinstance(value, list) else [value]
    if unknown_in(given):
        yield undecidable(item, path)
    elif not value:
        yield finding(item, path, f"{path} is left at its default", POLICY)
    elif allowed and (weak := [one for one in given if one not in allowed]):
        yield finding(item, path, f"{path} has {weak[0]}, which is weak or not the fleet's", POLICY)


def _inside(item: Item, path: str, world: World, owners: dict[str, str]) -> Iterator[Finding]:
    cidr = item.props.get(path)
    if cidr is UNKNOWN:
        yield undecidable(item, path)
    elif cidr not in world.plan.tunnels.values():
        yield finding(item, path, f"{path} {cidr} is no tunnel's in the ledger", PLAN)
    elif (other := owners.setdefault(str(cidr), f"{path} of {item.name}")) != f"{path} of {item.name}":
        yield finding(item, path, f"{path} {cidr} is {other} as well", PLAN)


def _numbers(item: Item, world: World) -> Iterator[Finding]:
    values = {path: item.props.get(path) for path in NUMBERS[item.type]}
    clouds = {str(hubs.asn(name)): region.cloud for name, region in world.fleet.regions.items() if name in hubs.ASNS}
    if clouds.get(str(values.get("bgpAsn"))) == "azure":
        return  # an instance of a gateway in Azure, which gives its address
    for path, value in values.items():
        if value is UNKNOWN:
            yield undecidable(item, path)
    if unknown_in(list(values.values())):
        return
    sites = {address: site.asn for site in world.fleet.sites.values() for address in site.gateways}
    if (own := values.get("amazonSideAsn")) is not None and str(own) in {str(asn) for asn in sites.values()}:
        what = f"amazonSideAsn {own} is a site's: BGP takes no route with its own number in the path"
        yield finding(item, "amazonSideAsn", what, "Take the region's (fleet/hubs.py)")
    if "ipAddress" not in values:
        return
    address, asn = values["ipAddress"], str(values["bgpAsn"])
    if address not in sites:
        yield finding(item, "ipAddress", f"ipAddress {address} is no site's gateway", "Name it under `sites`")
    if asn in clouds:
        yield finding(item, "bgpAsn", f"bgpAsn {asn} is a hub's: both ends have one number", "Take the site's asn")
    elif address in sites and asn != str(sites[address]):
        yield finding(item, "bgpAsn", f"bgpAsn {asn} is not that of its site", f"Take {sites[address]}")


def _route(item: Item, world: World) -> Iterator[Finding]:
    cidr = item.props.get("destinationCidrBlock")
    places = {prefix: name for name, prefix in world.plan.aggregates().items() if not name.startswith("region/")}
    if cidr is UNKNOWN:
        yield undecidable(item, "destinationCidrBlock")
    elif cidr in places:
        what = (
            f"destinationCidrBlock {cidr} of {places[cidr]} stands statically in a hub, whether it is in reach or not"
        )
        yield finding(item, "destinationCidrBlock", what, "Let BGP tell it; regions' blocks alone stand there")


def _advertised(found: list[Item]) -> Iterator[Finding]:
    """What a hub tells a site is what the table of their tunnel has; ids are known in an update."""
    tables = {item.props.get("transitGatewayRouteTableId") for item in of_types(found, [ASSOCIATION]) if _tunnel(item)}
    count: dict[Any, int] = defaultdict(int)
    for item in of_types(found, ADVERTISED):
        table = item.props.get("transitGatewayRouteTableId")
        if table is not UNKNOWN and table in tables:
            count[table] += 1
            if count[table] == MOST_PREFIXES + 1:
                what = f"{table} tells sites more than the {MOST_PREFIXES} prefixes that their gateways take"
                yield finding(item, "transitGatewayRouteTableId", what, "Tell them the region's block alone")


def _tunnel(item: Item) -> bool:
    return item.props.get("resourceType") == "vpn" and item.props.get("transitGatewayRouteTableId") is not UNKNOWN
