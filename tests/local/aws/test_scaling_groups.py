"""A scaling group keeps within its bounds, stands still where it is told to, and takes every change."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .support import image, refused

Client = Callable[..., Any]
REGION = "ca-central-1"


@pytest.fixture
def scaling(client: Client) -> Iterator[Any]:
    """A group "s" of one machine out of at most three."""
    ec2, scaling = client("ec2", REGION), client("autoscaling", REGION)
    data = {"ImageId": image(ec2), "InstanceType": "t3.micro"}
    template = ec2.create_launch_template(LaunchTemplateName="s", LaunchTemplateData=data)["LaunchTemplate"]
    given = {
        "MinSize": 0,
        "MaxSize": 3,
        "VPCZoneIdentifier": ec2.describe_subnets()["Subnets"][0]["SubnetId"],
        "LaunchTemplate": {"LaunchTemplateId": template["LaunchTemplateId"]},
    }
    assert refused(scaling.create_auto_scaling_group, AutoScalingGroupName="s", DesiredCapacity=4, **given) == (
        "ValidationError"
    )
    scaling.create_auto_scaling_group(AutoScalingGroupName="s", DesiredCapacity=1, **given)
    assert refused(scaling.create_auto_scaling_group, AutoScalingGroupName="s", **given) == "AlreadyExists"
    yield scaling
    scaling.delete_auto_scaling_group(AutoScalingGroupName="s", ForceDelete=True)
    ec2.delete_launch_template(LaunchTemplateId=template["LaunchTemplateId"])


def group(scaling: Any) -> Any:
    return scaling.describe_auto_scaling_groups(AutoScalingGroupNames=["s"])["AutoScalingGroups"][0]


def update(scaling: Any, **given: Any) -> None:
    scaling.update_auto_scaling_group(AutoScalingGroupName="s", **given)


def size(scaling: Any) -> tuple[int, int]:
    read = group(scaling)
    return read["DesiredCapacity"], len(read["Instances"])


def test_an_update_changes_all_that_it_names_and_nothing_else(scaling: Any) -> None:
    update(scaling, TerminationPolicies=["NewestInstance"], DefaultCooldown=60, CapacityRebalance=True)
    read = group(scaling)
    assert (read["TerminationPolicies"], read["DefaultCooldown"], read["CapacityRebalance"]) == (
        ["NewestInstance"],
        60,
        True,
    )
    assert size(scaling) == (1, 1)


def test_new_bounds_move_the_size_and_a_size_keeps_within_them(scaling: Any) -> None:
    assert refused(update, scaling=scaling, DesiredCapacity=4) == "ValidationError"
    assert refused(update, scaling=scaling, MinSize=4) == "ValidationError"
    update(scaling, MinSize=2)
    assert size(scaling) == (2, 2)
    update(scaling, MinSize=0, MaxSize=1)
    assert size(scaling) == (1, 1)


def test_what_stands_still_waits_until_it_is_resumed(scaling: Any) -> None:
    scaling.suspend_processes(AutoScalingGroupName="s", ScalingProcesses=["Launch", "Terminate"])
    update(scaling, DesiredCapacity=3)
    assert size(scaling) == (3, 1)
    scaling.resume_processes(AutoScalingGroupName="s", ScalingProcesses=["Launch"])
    assert size(scaling) == (3, 3)
    update(scaling, DesiredCapacity=2)
    assert size(scaling) == (2, 3)
    scaling.resume_processes(AutoScalingGroupName="s", ScalingProcesses=["Terminate"])
    assert size(scaling) == (2, 2)
    scaling.suspend_processes(AutoScalingGroupName="s", ScalingProcesses=["Terminate"])  # and still it can be deleted
