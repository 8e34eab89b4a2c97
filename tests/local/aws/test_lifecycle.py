"""Instances wait for lifecycle hooks as the EC2 Auto Scaling user guide says, and move on as it says."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from .support import image

Client = Callable[..., Any]
REGION = "us-west-1"


@pytest.fixture(scope="module")
def ec2(client: Client) -> Any:
    return client("ec2", REGION)


@pytest.fixture(scope="module")
def template(ec2: Any) -> str:
    data = {"ImageId": image(ec2), "InstanceType": "t3.micro"}
    return str(
        ec2.create_launch_template(LaunchTemplateName="waits", LaunchTemplateData=data)["LaunchTemplate"][
            "LaunchTemplateId"
        ]
    )


@pytest.fixture
def scaling(client: Client, ec2: Any, template: str) -> Iterator[Any]:
    """A group "w" of none to six machines."""
    scaling = client("autoscaling", REGION)
    create(scaling, ec2, template)
    yield scaling
    scaling.delete_auto_scaling_group(AutoScalingGroupName="w", ForceDelete=True)


def create(scaling: Any, ec2: Any, template: str, **more: Any) -> None:
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
    size = {"MinSize": 0, "MaxSize": 6, "DesiredCapacity": 0, "VPCZoneIdentifier": subnet}
    launch = {"LaunchTemplateId": template}
    scaling.create_auto_scaling_group(**{"AutoScalingGroupName": "w", "LaunchTemplate": launch, **size, **more})


def hook(scaling: Any, way: str, name: str = "hook", default: str = "ABANDON", **more: Any) -> None:
    given = {"LifecycleHookName": name, "AutoScalingGroupName": "w", "DefaultResult": default, **more}
    transition = f"autoscaling:EC2_INSTANCE_{way}"
    scaling.put_lifecycle_hook(**{"LifecycleTransition": transition, "HeartbeatTimeout": 600, **given})


def size(scaling: Any, to: int) -> None:
    scaling.set_desired_capacity(AutoScalingGroupName="w", DesiredCapacity=to)


def states(scaling: Any) -> dict[str, str]:
    group = scaling.describe_auto_scaling_groups(AutoScalingGroupNames=["w"])["AutoScalingGroups"][0]
    found = {machine["InstanceId"]: machine["LifecycleState"] for machine in group["Instances"]}
    alone = scaling.describe_auto_scaling_instances()["AutoScalingInstances"]
    assert {machine["InstanceId"]: machine["LifecycleState"] for machine in alone} == found
    return found


def complete(scaling: Any, instance: str, result: str, name: str = "hook") -> None:
    action = {"LifecycleHookName": name, "AutoScalingGroupName": "w", "InstanceId": instance}
    scaling.complete_lifecycle_action(**action, LifecycleActionResult=result)


def beat(scaling: Any, instance: str) -> None:
    action = {"LifecycleHookName": "hook", "AutoScalingGroupName": "w", "InstanceId": instance}
    scaling.record_lifecycle_action_heartbeat(**action)


def running(ec2: Any, *instances: str) -> list[str]:
    found = ec2.describe_instances(InstanceIds=list(instances))["Reservations"]
    return [machine["State"]["Name"] for reservation in found for machine in reservation["Instances"]]


def test_a_launch_waits_and_continue_puts_it_into_service(scaling: Any) -> None:
    hook(scaling, "LAUNCHING")
    size(scaling, 2)
    first, second = states(scaling)
    assert states(scaling) == {first: "Pending:Wait", second: "Pending:Wait"}
    size(scaling, 2)
    assert len(states(scaling)) == 2, "who waits counts"
    activities = scaling.describe_scaling_activities(AutoScalingGroupName="w")["Activities"]
    assert {activity["StatusCode"] for activity in activities} == {"MidLifecycleAction"}
    complete(scaling, first, "CONTINUE")
    assert states(scaling) == {first: "InService", second: "Pending:Wait"}
    with pytest.raises(ClientError, match=f"No active Lifecycle Action found with instance ID {first}"):
        complete(scaling, first, "CONTINUE")


def test_an_abandoned_launch_is_terminated_and_replaced(scaling: Any, ec2: Any) -> None:
    hook(scaling, "LAUNCHING")
    size(scaling, 1)
    (before,) = states(scaling)
    complete(scaling, before, "ABANDON")
    (after,) = states(scaling)
    assert after != before
    assert states(scaling)[after] == "Pending:Wait"
    assert running(ec2, before) == ["terminated"]
    activities = scaling.describe_scaling_activities(AutoScalingGroupName="w")["Activities"]
    assert "ABANDON" in next(a for a in activities if a["StatusCode"] == "Cancelled")["StatusMessage"]


@pytest.mark.parametrize("result", ["CONTINUE", "ABANDON"])
def test_a_termination_waits_and_ends_either_way(scaling: Any, ec2: Any, result: str) -> None:
    size(scaling, 2)
    hook(scaling, "TERMINATING")
    size(scaling, 1)
    leaving = next(instance for instance, state in states(scaling).items() if state == "Terminating:Wait")
    assert sorted(states(scaling).values()) == ["InService", "Terminating:Wait"]
    assert running(ec2, leaving) == ["running"]
    activities = scaling.describe_scaling_activities(AutoScalingGroupName="w")["Activities"]
    assert {activity["StatusCode"] for activity in activities} == {"Successful"}, "its launch was long over"
    size(scaling, 2)
    assert sorted(states(scaling).values()) == ["InService", "InService", "Terminating:Wait"], (
        "who leaves counts no more"
    )
    complete(scaling, leaving, result)
    assert list(states(scaling).values()) == ["InService", "InService"]
    assert running(ec2, leaving) == ["terminated"]


def test_a_chosen_machine_waits_too_and_is_replaced_unless_the_group_shrinks(scaling: Any) -> None:
    size(scaling, 2)
    first, second = states(scaling)
    hook(scaling, "TERMINATING")
    scaling.terminate_instance_in_auto_scaling_group(InstanceId=first, ShouldDecrementDesiredCapacity=True)
    assert states(scaling) == {first: "Terminating:Wait", second: "InService"}
    scaling.terminate_instance_in_auto_scaling_group(InstanceId=second, ShouldDecrementDesiredCapacity=False)
    assert sorted(states(scaling).values()) == ["InService", "Terminating:Wait", "Terminating:Wait"]


def test_a_heartbeat_prolongs_and_silence_applies_the_default(scaling: Any, own: Callable[..., Any]) -> None:
    hook(scaling, "LAUNCHING", default="CONTINUE")
    size(scaling, 1)
    (waiting,) = states(scaling)
    own("clock", {"advance": 590})
    beat(scaling, waiting)
    own("clock", {"advance": 590})
    assert states(scaling) == {waiting: "Pending:Wait"}
    own("clock", {"advance": 20})
    assert states(scaling) == {waiting: "InService"}


def test_silence_abandons_a_launch_by_default(scaling: Any, ec2: Any, own: Callable[..., Any]) -> None:
    hook(scaling, "LAUNCHING")
    size(scaling, 1)
    (before,) = states(scaling)
    own("clock", {"advance": 601})
    assert running(ec2, before) == ["terminated"], "EC2 sees it, whoever asks first"
    assert before not in states(scaling)


@pytest.mark.parametrize(("heartbeat", "longest"), [(30, 3_000), (7_200, 172_800)])
def test_no_heartbeat_prolongs_past_100_timeouts_or_48_hours(
    scaling: Any, own: Callable[..., Any], heartbeat: int, longest: int
) -> None:
    hook(scaling, "TERMINATING", HeartbeatTimeout=heartbeat)
    size(scaling, 1)
    (waiting,) = states(scaling)
    size(scaling, 0)
    step = heartbeat - 10
    beats = (longest - 1) // step
    for _ in range(beats):
        own("clock", {"advance": step})
        beat(scaling, waiting)
    assert states(scaling) == {waiting: "Terminating:Wait"}
    rest = longest - beats * step
    assert rest < heartbeat
    own("clock", {"advance": rest})
    assert states(scaling) == {}


def test_continue_waits_for_the_other_hooks_and_abandon_stops_them(scaling: Any) -> None:
    size(scaling, 2)
    hook(scaling, "TERMINATING", "one")
    hook(scaling, "TERMINATING", "two")
    size(scaling, 0)
    first, second = states(scaling)
    complete(scaling, first, "CONTINUE", "one")
    complete(scaling, second, "ABANDON", "one")
    assert states(scaling) == {first: "Terminating:Wait"}
    complete(scaling, first, "CONTINUE", "two")
    assert states(scaling) == {}


def test_a_deleted_hook_completes_its_actions_first(scaling: Any) -> None:
    size(scaling, 1)
    hook(scaling, "TERMINATING")
    size(scaling, 0)
    scaling.delete_lifecycle_hook(LifecycleHookName="hook", AutoScalingGroupName="w")
    assert states(scaling) == {}


def test_the_target_is_told_the_token_that_completes(scaling: Any, client: Client) -> None:
    sqs = client("sqs", REGION)
    queue = sqs.create_queue(QueueName="hooks")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    target = {"NotificationTargetARN": arn, "RoleARN": "arn:aws:iam::123456789012:role/tell"}
    hook(scaling, "LAUNCHING", **target, NotificationMetadata="pool=gpu")
    size(scaling, 1)
    read = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]
    test, told = (json.loads(message["Body"]) for message in read)
    assert test["Event"] == "autoscaling:TEST_NOTIFICATION"
    assert told["LifecycleTransition"] == "autoscaling:EC2_INSTANCE_LAUNCHING"
    assert told["NotificationMetadata"] == "pool=gpu"
    action = {"LifecycleHookName": "hook", "AutoScalingGroupName": "w", "LifecycleActionResult": "CONTINUE"}
    with pytest.raises(ClientError, match="No active Lifecycle Action found with token"):
        scaling.complete_lifecycle_action(**action, LifecycleActionToken="0" * 36)
    scaling.complete_lifecycle_action(**action, LifecycleActionToken=told["LifecycleActionToken"])
    assert states(scaling) == {told["EC2InstanceId"]: "InService"}


def test_a_group_may_be_created_with_hooks_and_takes_all_with_it(client: Client, ec2: Any, template: str) -> None:
    scaling = client("autoscaling", REGION)
    hooks = [
        {"LifecycleHookName": "up", "LifecycleTransition": "autoscaling:EC2_INSTANCE_LAUNCHING"},
        {"LifecycleHookName": "down", "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING"},
    ]
    create(scaling, ec2, template, MinSize=1, DesiredCapacity=1, LifecycleHookSpecificationList=hooks)
    (instance,) = states(scaling)
    assert states(scaling) == {instance: "Pending:Wait"}
    scaling.delete_auto_scaling_group(AutoScalingGroupName="w", ForceDelete=True)
    assert running(ec2, instance) == ["terminated"]
    create(scaling, ec2, template, DesiredCapacity=1)
    assert list(states(scaling).values()) == ["InService"], "the hooks went with their group"
    scaling.delete_auto_scaling_group(AutoScalingGroupName="w", ForceDelete=True)


def test_who_waits_gets_no_traffic(scaling: Any, client: Client, ec2: Any) -> None:
    elb = client("elbv2", REGION)
    vpc = ec2.describe_vpcs()["Vpcs"][0]["VpcId"]
    arn = elb.create_target_group(Name="waits", Protocol="TCP", Port=6443, VpcId=vpc)["TargetGroups"][0][
        "TargetGroupArn"
    ]
    hook(scaling, "LAUNCHING", "up")
    hook(scaling, "TERMINATING", "down")
    scaling.attach_load_balancer_target_groups(AutoScalingGroupName="w", TargetGroupARNs=[arn])

    def targets() -> list[str]:
        health = elb.describe_target_health(TargetGroupArn=arn)["TargetHealthDescriptions"]
        return [target["Target"]["Id"] for target in health if target["TargetHealth"]["State"] != "draining"]

    size(scaling, 1)
    (instance,) = states(scaling)
    assert targets() == []
    complete(scaling, instance, "CONTINUE", "up")
    assert targets() == [instance]
    size(scaling, 0)
    assert states(scaling) == {instance: "Terminating:Wait"}
    assert targets() == []


def test_a_wrong_hook_is_refused(scaling: Any) -> None:
    with pytest.raises(ClientError, match="ValidationError"):
        hook(scaling, "LAUNCHING", HeartbeatTimeout=29)
    with pytest.raises(ClientError, match="ValidationError"):
        hook(scaling, "SLEEPING")


@pytest.mark.parametrize("wrong", [{"advance": -1}, {"advance": "soon"}, {}, []])
def test_time_moves_on_by_a_number_and_never_back(own: Callable[..., Any], wrong: Any) -> None:
    before = own("clock")
    with pytest.raises(OSError, match="400"):
        own("clock", wrong)
    assert 0 <= own("clock") - before < 60
