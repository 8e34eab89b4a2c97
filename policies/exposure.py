"""What can be reached from outside: ingress, public addresses, policies that name everybody, buckets."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from fleet.address.blocks import parse
from fleet.world import World

from .reading import UNKNOWN, Finding, Item, finding, of_types, undecidable, unknown_in

DECLARE = "Name a prefix of the plan, or declare the port under `ingress` in the fleet file"
BUCKET = "aws:s3/bucket:Bucket"
PUBLIC_ACLS = {"public-read", "public-read-write", "authenticated-read"}
BLOCKS = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
# Properties that hand out public addresses.
PUBLIC_ADDRESS = {
    "aws:ec2/subnet:Subnet": "mapPublicIpOnLaunch",
    "aws:ec2/instance:Instance": "associatePublicIpAddress",
}
POLICIES = {
    "aws:s3/bucketPolicy:BucketPolicy",
    "aws:efs/fileSystemPolicy:FileSystemPolicy",
    "aws:kms/key:Key",
    "aws:secretsmanager/secretPolicy:SecretPolicy",
    "aws:sqs/queuePolicy:QueuePolicy",
}


class Opening(NamedTuple):
    """Ports from `low` to `high` open to `cidr`; protocol -1 means all."""

    protocol: str
    low: Any
    high: Any
    cidr: Any


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    for item in found:
        for opening in _openings(item):
            yield from _judge(item, opening, world)
    for item in of_types(found, PUBLIC_ADDRESS):
        name = PUBLIC_ADDRESS[item.type]
        if item.props.get(name) is UNKNOWN:
            yield undecidable(item, name)
        elif item.props.get(name):
            yield finding(item, f"{name} gives machines public addresses", "Set it to false; machines go out by NAT")
    for item in of_types(found, POLICIES):
        yield from _policy(item)
    yield from _buckets(found)


def _openings(item: Item) -> Iterator[Opening]:
    props = item.props
    match item.type:
        case "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule":
            for name in ("cidrIpv4", "cidrIpv6"):
                if props.get(name) is not None:
                    yield Opening(props["ipProtocol"], props.get("fromPort"), props.get("toPort"), props[name])
        case "aws:ec2/securityGroupRule:SecurityGroupRule" if props.get("type") != "egress":
            yield from _inline(props)
        case "aws:ec2/securityGroup:SecurityGroup" | "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup":
            rules = props.get("ingress") or []
            for rule in [UNKNOWN] if rules is UNKNOWN else rules:
                if rule is UNKNOWN:
                    yield Opening("-1", None, None, UNKNOWN)
                else:
                    yield from _inline(rule)


def _inline(rule: dict[str, Any]) -> Iterator[Opening]:
    for name in ("cidrBlocks", "ipv6CidrBlocks"):
        cidrs = rule.get(name) or []
        for cidr in [UNKNOWN] if cidrs is UNKNOWN else cidrs:
            yield Opening(str(rule.get("protocol")), rule.get("fromPort"), rule.get("toPort"), cidr)


def _judge(item: Item, opening: Opening, world: World) -> Iterator[Finding]:
    if unknown_in(list(opening)):
        yield undecidable(item, "its ingress")
        return
    try:
        block = parse(opening.cidr)
    except ValueError:
        yield finding(item, f"ingress from {opening.cidr}, which is not a prefix of the plan", DECLARE)
        return
    if any(known.holds(block) for known in world.plan.blocks.values()):
        return
    declared = [
        rule for rule in world.fleet.ingress if (rule.protocol, rule.port, rule.port, rule.cidr) == tuple(opening)
    ]
    if not declared:
        ports = "every port" if opening.protocol == "-1" else f"{opening.protocol} {opening.low}-{opening.high}"
        yield finding(item, f"ingress from {opening.cidr} to {ports} is wider than the plan and not declared", DECLARE)


def _policy(item: Item) -> Iterator[Finding]:
    text = item.props.get("policy")
    if text is UNKNOWN:
        yield undecidable(item, "policy")
    elif text:
        for statement in _statements(text):
            if statement.get("Effect") == "Allow" and _everybody(statement) and not statement.get("Condition"):
                what = f"statement {statement.get('Sid', '')} allows {statement.get('Action')} to everybody"
                yield finding(item, what, "Name principals, or add a condition that says who may")


def _statements(text: Any) -> list[dict[str, Any]]:
    document = json.loads(text) if isinstance(text, str) else text
    statements = document.get("Statement") or []
    return statements if isinstance(statements, list) else [statements]


def _everybody(statement: dict[str, Any]) -> bool:
    principal = statement.get("Principal")
    values = principal.values() if isinstance(principal, dict) else [principal]
    return any(value == "*" or (isinstance(value, list) and "*" in value) for value in values)


def _buckets(found: list[Item]) -> Iterator[Finding]:
    for item in of_types(found, {BUCKET}):
        name = item.props.get("bucket")
        if name is UNKNOWN or name is None:
            yield undecidable(item, "bucket")
            continue
        if item.props.get("acl") in PUBLIC_ACLS:
            yield finding(item, f"acl is {item.props['acl']}", "Leave acl out: the owner is enforced")
        for kind, good, what, remedy in COMPANIONS:
            beside = list(of_types(found, {f"aws:s3/{kind[0].lower()}{kind[1:]}:{kind}"}))
            mine = [other for other in beside if other.props.get("bucket") == name]
            unsure = [other for other in beside if other.props.get("bucket") is UNKNOWN]
            if not mine and unsure:
                yield undecidable(unsure[0], "bucket")
            elif any(unknown_in(_relevant(other.props, kind)) for other in mine):
                yield undecidable(mine[0], "a setting")
            elif not any(good(other.props) for other in mine):
                yield finding(item, what, remedy)


def _relevant(props: dict[str, Any], kind: str) -> Any:
    names = {
        "BucketPublicAccessBlock": BLOCKS,
        "BucketPolicy": ("policy",),
        "BucketVersioning": ("versioningConfiguration",),
    }
    return [props.get(name) for name in names[kind]]


def _closed(props: dict[str, Any]) -> bool:
    return all(props.get(name) is True for name in BLOCKS)


def _versioned(props: dict[str, Any]) -> bool:
    return bool((props.get("versioningConfiguration") or {}).get("status") == "Enabled")


def _tls_only(props: dict[str, Any]) -> bool:
    return any(
        statement.get("Effect") == "Deny"
        and _everybody(statement)
        and statement.get("Condition", {}).get("Bool", {}).get("aws:SecureTransport") in ("false", False)
        for statement in _statements(props.get("policy") or "{}")
    )


COMPANIONS = (
    (
        "BucketPublicAccessBlock",
        _closed,
        "it is not closed to the public",
        "Add a BucketPublicAccessBlock, all four true",
    ),
    ("BucketVersioning", _versioned, "replaced objects are lost", "Add a BucketVersioning with status Enabled"),
    ("BucketPolicy", _tls_only, "it answers without TLS", "Add a BucketPolicy that denies aws:SecureTransport false"),
)
