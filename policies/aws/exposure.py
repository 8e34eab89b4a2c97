"""What can be reached from outside on AWS: ingress, public addresses, policies that name everybody, buckets."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from fleet import issuers, laptops
from fleet.address.blocks import parse
from fleet.model import Fleet
from fleet.world import World

from ..reading import UNKNOWN, Finding, Item, finding, of_types, undecidable, unknown_in, unlisted, values
from . import buckets, grants

DECLARE = "Name a prefix of the plan, or declare the port under `ingress` in the fleet file"
# Properties that hand out public addresses.
PUBLIC_ADDRESS: dict[str, tuple[str, ...]] = {
    "aws:ec2/subnet:Subnet": ("mapPublicIpOnLaunch",),
    "aws:ec2/instance:Instance": ("associatePublicIpAddress",),
    "aws:ec2/launchTemplate:LaunchTemplate": ("networkInterfaces.associatePublicIpAddress",),
}
PREFIX, PREFIX_LIST = "prefix", "prefix list"
EVERYWHERE = "0.0.0.0/0"
INLINE = {
    "ingress.cidrBlocks": PREFIX,
    "ingress.ipv6CidrBlocks": PREFIX,
    "ingress.prefixListIds": PREFIX_LIST,
}
# Type → where it says who may come in → as what. Security groups may be named freely: they are no addresses.
INGRESS = {
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": {
        "cidrIpv4": PREFIX,
        "cidrIpv6": PREFIX,
        "prefixListId": PREFIX_LIST,
    },
    "aws:ec2/securityGroupRule:SecurityGroupRule": {
        "cidrBlocks": PREFIX,
        "ipv6CidrBlocks": PREFIX,
        "prefixListIds": PREFIX_LIST,
    },
    "aws:ec2/securityGroup:SecurityGroup": INLINE,
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": INLINE,
}


class Opening(NamedTuple):
    """Ports from `low` to `high` open to `source`; protocol -1 means all."""

    protocol: Any
    low: Any
    high: Any
    source: Any


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    for item in of_types(found, INGRESS):
        if item.props.get("type") != "egress":
            for path, kind in INGRESS[item.type].items():
                yield from _ingress(item, path, kind, world)
    for item in of_types(found, PUBLIC_ADDRESS):
        for path in PUBLIC_ADDRESS[item.type]:
            yield from _public_address(item, path)
    issuing = _issuers(world.fleet)
    yield from grants.findings(found, {arn for arns in issuing.values() for arn in arns})
    yield from buckets.acls(found)
    yield from buckets.findings(found, buckets.COMPANIONS, issuing)


def _issuers(fleet: Fleet) -> dict[str, list[str]]:
    """Bucket → ARNs of what everybody may read in it: the documents of clusters' public issuers, and nothing else."""
    here = [name for name, cluster in fleet.clusters.items() if fleet.regions[cluster.region].cloud == "aws"]
    return {issuers.bucket(fleet, name): issuers.public(fleet, name) for name in here}


def _public_address(item: Item, path: str) -> Iterator[Finding]:
    for value in values(item.props, path):
        if value is UNKNOWN:
            yield undecidable(item, path)
        elif value not in (None, "", False, "false"):  # launch templates have it as text
            yield finding(item, path, f"{path} gives machines public addresses", "Set it to false; they go out by NAT")


def _ingress(item: Item, path: str, kind: str, world: World) -> Iterator[Finding]:
    for opening in _openings(item.props, path):
        if opening.source is UNKNOWN:
            yield undecidable(item, "its ingress")._replace(path=path)
        elif kind == PREFIX_LIST:
            yield unlisted(item, path, opening.source)
        else:
            yield from _judge(item, path, opening, world)


def _openings(props: dict[str, Any], path: str) -> Iterator[Opening]:
    inside, _, name = path.rpartition(".")
    for rule in values(props, inside) if inside else [props]:
        if rule is UNKNOWN:
            yield Opening(None, None, None, UNKNOWN)
        elif rule is not None:
            protocol = rule.get("ipProtocol", rule.get("protocol"))
            for source in values([rule.get(name)], ""):
                if source:
                    yield Opening(protocol, rule.get("fromPort"), rule.get("toPort"), source)


def _judge(item: Item, path: str, opening: Opening, world: World) -> Iterator[Finding]:
    try:
        block = parse(str(opening.source))
    except ValueError:
        what = f"ingress from {opening.source}, which is not a prefix of the plan"
        yield finding(item, path, what, DECLARE)
        return
    # The supernet as a whole is everything of the fleet; an odd part of it may be somebody else's.
    if block == parse(world.fleet.supernet) or any(known.holds(block) for known in world.plan.blocks.values()):
        return
    if unknown_in(list(opening)):
        yield undecidable(item, "its ingress")._replace(path=path)
        return
    declared = {(rule.protocol, rule.port, rule.port, rule.cidr) for rule in world.fleet.ingress}
    if laptops.served(world.fleet, laptops.region_of(item.stack)):
        declared.add(("udp", laptops.PORT, laptops.PORT, EVERYWHERE))
    if tuple(opening) not in declared:
        ports = "every port" if str(opening.protocol) == "-1" else f"{opening.protocol} {opening.low}-{opening.high}"
        what = f"ingress from {opening.source} to {ports} is wider than the plan and not declared"
        yield finding(item, path, what, DECLARE)
