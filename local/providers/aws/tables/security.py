"""Security groups and their rules."""

from typing import Any

from ..kinds import ID, Call, Change, Kind, Out, P, props, replaces, same_paths
from .ec2 import TAGGING

_EVERYTHING = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]

GROUP = Kind(
    service="ec2",
    create=Call(
        "create_security_group",
        {"GroupName": P("name"), "Description": P("description", "Managed by Pulumi"), "VpcId": P("vpcId")},
        "GroupId",
    ),
    # AWS opens all egress on a new group; the provider takes that back, so that what the program says is all there is.
    after_create=(Call("revoke_security_group_egress", {"GroupId": ID, "IpPermissions": _EVERYTHING}),),
    read=Call("describe_security_groups", {"GroupIds": [ID]}, "SecurityGroups[0]"),
    delete=(Call("delete_security_group", {"GroupId": ID}),),
    outputs={
        **same_paths("description", "vpcId", "ownerId"),
        "name": "GroupName",
        "arn": lambda found: f"arn:aws:ec2:{found.region}:{found.account}:security-group/{found.id}",
    },
    replace=replaces("name", "description", "vpcId"),
    autoname="name",
    tagging=TAGGING,
    missing=("InvalidGroup.NotFound", "InvalidGroupId.NotFound"),
)


def _rule(direction: str) -> Kind:
    permission = {
        "IpProtocol": P("ipProtocol"),
        "FromPort": P("fromPort"),
        "ToPort": P("toPort"),
        "IpRanges": P("cidrIpv4", convert=lambda cidr: [{"CidrIp": cidr}]),
        "UserIdGroupPairs": P("referencedSecurityGroupId", convert=lambda group: [{"GroupId": group}]),
    }
    described = {
        "SecurityGroupRuleId": ID,
        "SecurityGroupRule": {
            **props("ipProtocol", "fromPort", "toPort", "cidrIpv4", "description"),
            "ReferencedGroupId": P("referencedSecurityGroupId"),
        },
    }
    modify = Call("modify_security_group_rules", {"GroupId": P("securityGroupId"), "SecurityGroupRules": [described]})
    revoke = {"GroupId": Out("securityGroupId"), "SecurityGroupRuleIds": [ID]}
    return Kind(
        service="ec2",
        create=Call(
            f"authorize_security_group_{direction}",
            {"GroupId": P("securityGroupId"), "IpPermissions": [permission]},
            "SecurityGroupRules[0].SecurityGroupRuleId",
        ),
        read=Call("describe_security_group_rules", {"SecurityGroupRuleIds": [ID]}, "SecurityGroupRules[0]"),
        delete=(Call(f"revoke_security_group_{direction}", revoke),),
        outputs={
            **same_paths("ipProtocol", "fromPort", "toPort", "cidrIpv4", "description"),
            "referencedSecurityGroupId": "ReferencedGroupInfo.GroupId",
            "securityGroupId": "GroupId",
            "securityGroupRuleId": "SecurityGroupRuleId",
            "arn": lambda found: f"arn:aws:ec2:{found.region}:{found.account}:security-group-rule/{found.id}",
        },
        replace=replaces("securityGroupId"),
        changes=(
            Change(("description",), (modify,), on_create=True),
            Change(("ipProtocol", "fromPort", "toPort", "cidrIpv4", "referencedSecurityGroupId"), (modify,)),
        ),
        tagging=TAGGING,
        missing=("InvalidSecurityGroupRuleId.NotFound", "InvalidGroup.NotFound", "InvalidPermission.NotFound"),
    )


def _group_id(taken: Any, inputs: Any) -> str:  # noqa: ARG001
    return str(taken)


# The network brings this group along: creating it means adopting it and taking its rules away.
DEFAULT_GROUP = Kind(
    service="ec2",
    create=Call(
        "describe_security_groups",
        {
            "Filters": [
                {"Name": "vpc-id", "Values": [P("vpcId")]},
                {"Name": "group-name", "Values": ["default"]},
            ]
        },
        "SecurityGroups[0].GroupId",
    ),
    after_create=(
        Call("revoke_security_group_egress", {"GroupId": ID, "IpPermissions": _EVERYTHING}),
        Call(
            "revoke_security_group_ingress",
            {"GroupId": ID, "IpPermissions": [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": ID}]}]},
        ),
    ),
    read=Call("describe_security_groups", {"GroupIds": [ID]}, "SecurityGroups[0]"),
    delete=(),
    outputs={
        **same_paths("description", "vpcId", "ownerId"),
        "name": "GroupName",
        "arn": lambda found: f"arn:aws:ec2:{found.region}:{found.account}:security-group/{found.id}",
    },
    replace=replaces("vpcId"),
    tagging=TAGGING,
    missing=GROUP.missing,
)

KINDS = {
    "aws:ec2/securityGroup:SecurityGroup": GROUP,
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": DEFAULT_GROUP,
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _rule("ingress"),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _rule("egress"),
}
