"""Prefixes: disjoint, and those that the ledger gives. The ledger is the truth across stacks."""

from collections import defaultdict
from collections.abc import Iterator

from fleet.address.blocks import Block, overlaps, parse
from fleet.address.names import is_aggregate
from fleet.world import World

from .reading import UNKNOWN, Finding, Item, finding, of_types, undecidable

VPC, SUBNET = "aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet"
# Type → property with a prefix, and what the ledger must call it. Clouds' types are added here and nowhere else.
OWNED = {
    VPC: ("cidrBlock", "network"),
    SUBNET: ("cidrBlock", "zone"),
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": ("cidrBlock", "network"),
    "aws:ec2clientvpn/endpoint:Endpoint": ("clientCidrBlock", "laptops"),
}
ROUTES = {
    "aws:ec2/route:Route": "destinationCidrBlock",
    "aws:ec2transitgateway/route:Route": "destinationCidrBlock",
    "aws:ec2/vpnConnectionRoute:VpnConnectionRoute": "destinationCidrBlock",
}
EVERYWHERE = "0.0.0.0/0"
LEDGER = "Take the prefix from the address plan (`landbridge plan`)"


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    blocks: dict[str, list[tuple[str, Block]]] = defaultdict(list)
    by_urn = {item.urn: item for item in found}
    for item in of_types(found, OWNED):
        name, part = OWNED[item.type]
        cidr = item.props.get(name)
        if cidr is UNKNOWN:
            yield undecidable(item, name)
            continue
        try:
            block = parse(str(cidr))
        except ValueError as error:
            yield finding(item, f"{name}: {error}", LEDGER)
            continue
        blocks[item.type].append((item.urn, block))
        yield from _owned(item, name, part, block, world)
    for members in blocks.values():
        for first, second in overlaps(members):
            what = f"{dict(members)[second]} overlaps {by_urn[first].name} ({dict(members)[first]})"
            yield finding(by_urn[second], what, LEDGER)
    yield from _routes(found, world)


def _owned(item: Item, name: str, part: str, block: Block, world: World) -> Iterator[Finding]:
    owners = [owner for owner, known in world.plan.blocks.items() if known == block]
    fitting = [owner for owner in owners if owner.split("/")[2:3] == [part]]
    if not fitting:
        whose = f"is {', '.join(owners)}" if owners else "is not in the ledger"
        yield finding(item, f"{name} {block} {whose}, not a {part}'s prefix", LEDGER)
    elif item.stack in world.fleet.regions and not any(owner.split("/")[1] == item.stack for owner in fitting):
        what = f"{name} {block} belongs to {fitting[0]}, and this is stack {item.stack}"
        yield finding(item, what, LEDGER)


def _routes(found: list[Item], world: World) -> Iterator[Finding]:
    known = {str(block) for name, block in world.plan.blocks.items() if is_aggregate(name)}
    for item in of_types(found, ROUTES):
        name = ROUTES[item.type]
        cidr = item.props.get(name)
        if cidr is UNKNOWN:
            yield undecidable(item, name)
        elif cidr is not None and cidr != EVERYWHERE and cidr not in known:
            yield finding(item, f"{name} {cidr} is no region's, site's or cluster's aggregate", LEDGER)
