"""Where others than a network's own machines ask it for names, and what it asks others itself."""

from typing import Any

from ..kinds import ID, TAG_KEYS, TAGS, TOKEN, Arn, Call, Change, Kind, Out, P, Tagging, props, replaces, same_paths
from .parts import Given, found, plain

_ASKED = plain("subnetId", "ip")
# What AWS calls it is its own word.
_ADDRESS = plain("subnetId", "ip", "ipId")
_ARN = Arn("arn:aws:route53resolver:{region}:{account}:resolver-endpoint/{id}")


def _addresses(read: Any) -> list[dict[str, Any]]:
    return sorted(found(_ADDRESS, read.answer["addresses"]), key=lambda one: str(one["ip"]))


ENDPOINT = Kind(
    service="route53resolver",
    create=Call(
        "create_resolver_endpoint",
        {
            **props("name", "direction", "securityGroupIds"),
            "IpAddresses": P("ipAddresses", convert=Given(_ASKED)),
            "CreatorRequestId": TOKEN,
        },
        "ResolverEndpoint.Id",
    ),
    read=Call("get_resolver_endpoint", {"ResolverEndpointId": ID}, "ResolverEndpoint"),
    more={"addresses": Call("list_resolver_endpoint_ip_addresses", {"ResolverEndpointId": ID}, "IpAddresses")},
    delete=(Call("delete_resolver_endpoint", {"ResolverEndpointId": ID}),),
    outputs={
        **same_paths("arn", "name", "direction", "securityGroupIds"),
        "hostVpcId": "HostVPCId",
        "ipAddresses": _addresses,
    },
    # The provider moves single addresses. Here it is another endpoint, which takes them over.
    replace=replaces("direction", "securityGroupIds", "ipAddresses"),
    changes=(Change(("name",), (Call("update_resolver_endpoint", {"ResolverEndpointId": ID, "Name": P("name")}),)),),
    tagging=Tagging(
        add=Call("tag_resource", {"ResourceArn": _ARN, "Tags": TAGS}),
        remove=Call("untag_resource", {"ResourceArn": _ARN, "TagKeys": TAG_KEYS}),
        read=Call("list_tags_for_resource", {"ResourceArn": _ARN}, "Tags"),
    ),
    missing=("ResourceNotFoundException",),
    delete_first=True,
)

_TARGET = plain("ip", "port")
_RULE_ARN = Arn("arn:aws:route53resolver:{region}:{account}:resolver-rule/{id}")

RULE = Kind(
    service="route53resolver",
    create=Call(
        "create_resolver_rule",
        {
            **props("name", "ruleType", "domainName", "resolverEndpointId"),
            "TargetIps": P("targetIps", convert=Given(_TARGET)),
            "CreatorRequestId": TOKEN,
        },
        "ResolverRule.Id",
    ),
    read=Call("get_resolver_rule", {"ResolverRuleId": ID}, "ResolverRule"),
    delete=(Call("delete_resolver_rule", {"ResolverRuleId": ID}),),
    outputs={
        **same_paths("arn", "name", "ruleType", "resolverEndpointId", "ownerId", "shareStatus"),
        # AWS adds the root's dot, and the provider takes it off.
        "domainName": lambda read: str(read.answer["DomainName"]).rstrip("."),
        "targetIps": lambda read: found(_TARGET, read.answer["TargetIps"]),
    },
    # The provider changes all but type and domain in place. Here it is another rule.
    replace=replaces("name", "ruleType", "domainName", "resolverEndpointId", "targetIps"),
    tagging=Tagging(
        add=Call("tag_resource", {"ResourceArn": _RULE_ARN, "Tags": TAGS}),
        remove=Call("untag_resource", {"ResourceArn": _RULE_ARN, "TagKeys": TAG_KEYS}),
        read=Call("list_tags_for_resource", {"ResourceArn": _RULE_ARN}, "Tags"),
    ),
    missing=("ResourceNotFoundException",),
    delete_first=True,
)

ASSOCIATION = Kind(
    service="route53resolver",
    create=Call(
        "associate_resolver_rule",
        {"ResolverRuleId": P("resolverRuleId"), "VPCId": P("vpcId"), "Name": P("name")},
        "ResolverRuleAssociation.Id",
    ),
    read=Call("get_resolver_rule_association", {"ResolverRuleAssociationId": ID}, "ResolverRuleAssociation"),
    delete=(Call("disassociate_resolver_rule", {"ResolverRuleId": Out("resolverRuleId"), "VPCId": Out("vpcId")}),),
    outputs={**same_paths("name", "resolverRuleId"), "vpcId": "VPCId"},
    replace=replaces("name", "resolverRuleId", "vpcId"),
    missing=("ResourceNotFoundException",),
    delete_first=True,
)

KINDS = {
    "aws:route53/resolverEndpoint:ResolverEndpoint": ENDPOINT,
    "aws:route53/resolverRule:ResolverRule": RULE,
    "aws:route53/resolverRuleAssociation:ResolverRuleAssociation": ASSOCIATION,
}
