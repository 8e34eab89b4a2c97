"""Scaling groups behave as EC2 Auto Scaling documents: spread, bounds, refusals, hooks."""

import json
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from .support import image

Client = Callable[..., Any]


@pytest.fixture
def group(client: Client) -> Iterator[Any]:
    """A group of at most six machines over two zones; yields the client."""
    ec2, scaling = client("ec2", "us-east-2"), client("autoscaling", "us-east-2")
    vpc = ec2.describe_vpcs()["Vpcs"][0]["VpcId"]
    subnets = ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["Subnets"][:2]
    machine_image = image(ec2)
    data = {"ImageId": machine_image, "InstanceType": "p5.48xlarge"}
    template = ec2.create_launch_template(LaunchTemplateName="t", LaunchTemplateData=data)["LaunchTemplate"]
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="g",
        MinSize=0,
        MaxSize=6,
        DesiredCapacity=0,
        VPCZoneIdentifier=",".join(subnet["SubnetId"] for subnet in subnets),
        LaunchTemplate={"LaunchTemplateId": template["LaunchTemplateId"]},
    )
    yield scaling
    scaling.delete_auto_scaling_group(AutoScalingGroupName="g", ForceDelete=True)
    ec2.delete_launch_template(LaunchTemplateId=template["LaunchTemplateId"])


def machines(scaling: Any) -> list[Any]:
    return list(scaling.describe_auto_scaling_groups(AutoScalingGroupNames=["g"])["AutoScalingGroups"][0]["Instances"])


def grow(scaling: Any, to: int) -> None:
    scaling.set_desired_capacity(AutoScalingGroupName="g", DesiredCapacity=to)


def inject(endpoint: str, *faults: dict[str, Any]) -> None:
    urllib.request.urlopen(f"{endpoint}/landbridge-api/faults", json.dumps(faults).encode()).close()


def test_machines_are_spread_over_the_zones(group: Any) -> None:
    grow(group, 5)
    zones = Counter(machine["AvailabilityZone"] for machine in machines(group))
    assert sorted(zones.values()) == [2, 3]


def test_desired_stays_between_minimum_and_maximum(group: Any) -> None:
    with pytest.raises(ClientError, match="New SetDesiredCapacity value 7 is above max value 6"):
        grow(group, 7)


def test_a_group_with_machines_is_not_deleted_without_force(group: Any) -> None:
    grow(group, 1)
    with pytest.raises(ClientError, match="ResourceInUse"):
        group.delete_auto_scaling_group(AutoScalingGroupName="g")


def test_what_was_refused_stands_in_the_activities_newest_first(group: Any, endpoint: str) -> None:
    inject(endpoint, {"region": "us-east-2", "instance_type": "p5.48xlarge", "capacity": 2})
    try:
        grow(group, 3)
        assert len(machines(group)) == 2
        activities = group.describe_scaling_activities(AutoScalingGroupName="g")["Activities"]
        assert [activity["StatusCode"] for activity in activities] == ["Failed", "Successful", "Successful"]
        assert "InsufficientInstanceCapacity" in activities[0]["StatusMessage"]
        assert "sufficient p5.48xlarge capacity" in activities[0]["StatusMessage"]
        page = group.describe_scaling_activities(AutoScalingGroupName="g", MaxRecords=2)
        rest = group.describe_scaling_activities(AutoScalingGroupName="g", MaxRecords=2, NextToken=page["NextToken"])
        assert len(page["Activities"]) + len(rest["Activities"]) == 3
    finally:
        inject(endpoint)


def test_a_wrong_fault_is_refused(endpoint: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="400"):
        inject(endpoint, {"capacity": 2, "planet": "mars"})


def test_a_lifecycle_hook_is_kept_as_it_was_given(group: Any) -> None:
    group.put_lifecycle_hook(
        LifecycleHookName="drain",
        AutoScalingGroupName="g",
        LifecycleTransition="autoscaling:EC2_INSTANCE_TERMINATING",
        HeartbeatTimeout=600,
        DefaultResult="CONTINUE",
    )
    hook = group.describe_lifecycle_hooks(AutoScalingGroupName="g")["LifecycleHooks"][0]
    assert (hook["HeartbeatTimeout"], hook["DefaultResult"], hook["GlobalTimeout"]) == (600, "CONTINUE", 60_000)
    assert "NotificationTargetARN" not in hook
