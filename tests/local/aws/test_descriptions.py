"""Descriptions of security groups and rules hold what AWS lets them hold."""

from collections.abc import Callable
from typing import Any

import pytest

from .support import refused

REGION = "eu-central-1"
BAD = ("the cloud's APIs", "Zürich", "a" * 256, "a\ttab")


@pytest.fixture(scope="module")
def ec2(client: Callable[..., Any]) -> Any:
    return client("ec2", REGION)


@pytest.fixture(scope="module")
def group(ec2: Any) -> str:
    made = ec2.create_security_group(GroupName="described", Description="All of these: ._-:/()#,@[]+=&;{}!$*")
    return str(made["GroupId"])


@pytest.mark.parametrize("text", BAD)
def test_a_group_with_such_a_description_is_refused(ec2: Any, text: str) -> None:
    assert refused(ec2.create_security_group, GroupName="bad", Description=text) == "InvalidParameterValue"


@pytest.mark.parametrize("text", BAD)
@pytest.mark.parametrize("direction", ["ingress", "egress"])
@pytest.mark.parametrize("source", ["cidr", "group"])
def test_a_rule_with_such_a_description_is_refused(
    ec2: Any, group: str, direction: str, source: str, text: str
) -> None:
    call = getattr(ec2, f"authorize_security_group_{direction}")
    peer = {
        "cidr": {"IpRanges": [{"CidrIp": "10.9.0.0/16", "Description": text}]},
        "group": {"UserIdGroupPairs": [{"GroupId": group, "Description": text}]},
    }[source]
    permission = {"IpProtocol": "tcp", "FromPort": 1, "ToPort": 2, **peer}
    assert refused(call, GroupId=group, IpPermissions=[permission]) == "InvalidParameterValue"


def test_a_rule_with_another_one_is_made(ec2: Any, group: str) -> None:
    ranges = [{"CidrIp": "10.9.0.0/16", "Description": "clients of etcd (main), port 2379"}]
    permission = {"IpProtocol": "tcp", "FromPort": 1, "ToPort": 2, "IpRanges": ranges}
    made = ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[permission])
    assert made["SecurityGroupRules"][0]["Description"] == ranges[0]["Description"]


def test_a_rule_for_all_traffic_is_described_anew_without_ports(ec2: Any, group: str) -> None:
    """extensions/security_rules.py; ports are still asked for where there are some."""
    permission = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}
    (made,) = ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[permission])["SecurityGroupRules"]
    change = {"IpProtocol": "-1", "ReferencedGroupId": group, "Description": "GPUs among themselves"}

    def modify(rule: dict[str, Any]) -> None:
        told = {"SecurityGroupRuleId": made["SecurityGroupRuleId"], "SecurityGroupRule": rule}
        ec2.modify_security_group_rules(GroupId=group, SecurityGroupRules=[told])

    modify(change)
    (now,) = ec2.describe_security_group_rules(SecurityGroupRuleIds=[made["SecurityGroupRuleId"]])["SecurityGroupRules"]
    assert (now["Description"], now["IpProtocol"], now["FromPort"]) == ("GPUs among themselves", "-1", -1)
    assert refused(modify, rule={**change, "IpProtocol": "tcp"}) == "InvalidParameterValue"
