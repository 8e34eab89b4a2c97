"""Prefixes on AWS: disjoint, and those that the ledger gives. The ledger is the truth across stacks."""

from collections import defaultdict
from collections.abc import Iterator

from fleet import laptops
from fleet.address.blocks import Block, overlaps, parse
from fleet.address.names import is_aggregate
from fleet.world import World

from ..reading import UNKNOWN, Finding, Item, finding, of_types, undecidable, unlisted, values

# Type → property with a prefix → what the ledger must call it. Its types are added here and nowhere else.
OWNED = {
    "aws:ec2/vpc:Vpc": {"cidrBlock": "network"},
    "aws:ec2/subnet:Subnet": {"cidrBlock": "zone"},
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": {"cidrBlock": "network"},
    "aws:ec2clientvpn/endpoint:Endpoint": {"clientCidrBlock": "laptops"},
}
PREFIX, SIX, PREFIX_LIST = "prefix", "six", "prefix list"
OF_ROUTES = {"routes.cidrBlock": PREFIX, "routes.ipv6CidrBlock": SIX, "routes.destinationPrefixListId": PREFIX_LIST}
# Type → where a route's destination may stand → as what.
ROUTES = {
    "aws:ec2/route:Route": {
        "destinationCidrBlock": PREFIX,
        "destinationIpv6CidrBlock": SIX,
        "destinationPrefixListId": PREFIX_LIST,
    },
    "aws:ec2/routeTable:RouteTable": OF_ROUTES,
    "aws:ec2/defaultRouteTable:DefaultRouteTable": OF_ROUTES,
    "aws:ec2transitgateway/route:Route": {"destinationCidrBlock": PREFIX},
    "aws:ec2transitgateway/prefixListReference:PrefixListReference": {"prefixListId": PREFIX_LIST},
}
EVERYWHERE = "0.0.0.0/0"
INTERFACE = "networkInterfaceId"
AGGREGATE = "is no region's, site's or cluster's aggregate"
LEDGER = "Take the prefix from the address plan (`landbridge plan`)"


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    blocks: dict[str, list[tuple[str, Block]]] = defaultdict(list)
    by_urn = {item.urn: item for item in found}
    for item in of_types(found, OWNED):
        for path, part in OWNED[item.type].items():
            cidr = item.props.get(path)
            if cidr is UNKNOWN:
                yield undecidable(item, path)
                continue
            try:
                block = parse(str(cidr))
            except ValueError as error:
                yield finding(item, path, f"{path}: {error}", LEDGER)
                continue
            blocks[item.type].append((item.urn, block))
            yield from _owned(item, path, part, block, world)
    for type_, members in blocks.items():
        known = dict(members)
        for first, second in overlaps(members):
            what = f"{known[second]} overlaps {by_urn[first].name} ({known[first]})"
            yield finding(by_urn[second], next(iter(OWNED[type_])), what, LEDGER)
    yield from _routes(found, world)


def _owned(item: Item, path: str, part: str, block: Block, world: World) -> Iterator[Finding]:
    owners = [owner for owner, known in world.plan.blocks.items() if known == block]
    fitting = [owner for owner in owners if owner.split("/")[2:3] == [part]]
    if not fitting:
        whose = f"is {', '.join(owners)}" if owners else "is not in the ledger"
        yield finding(item, path, f"{path} {block} {whose}, not a {part}'s prefix", LEDGER)
    elif item.stack in world.fleet.regions and not any(owner.split("/")[1] == item.stack for owner in fitting):
        what = f"{path} {block} belongs to {fitting[0]}, and this is stack {item.stack}"
        yield finding(item, path, what, LEDGER)


def _laptops(stack: str, world: World) -> set[str]:
    """Addresses of laptops that come in by a region: no aggregate has a route of its own in there."""
    region = laptops.region_of(stack)
    return set(world.plan.region(region).laptops) if region in world.fleet.regions else set()


def _routes(found: list[Item], world: World) -> Iterator[Finding]:
    known = {str(block) for name, block in world.plan.blocks.items() if is_aggregate(name)} | {EVERYWHERE}
    for item in of_types(found, ROUTES):
        for path, kind in ROUTES[item.type].items():
            for value in values(item.props, path):
                if value is UNKNOWN:
                    yield undecidable(item, path)
                elif not value or (kind == PREFIX and value in known):  # states hold "" for what is not set
                    continue
                elif kind == PREFIX and item.props.get(INTERFACE) and str(value) in _laptops(item.stack, world):
                    continue  # to the server that gives these addresses out
                elif kind == PREFIX_LIST:
                    yield unlisted(item, path, value)
                else:
                    why = "is IPv6, and the plan is IPv4" if kind == SIX else AGGREGATE
                    yield finding(item, path, f"{path} {value} {why}", LEDGER)
