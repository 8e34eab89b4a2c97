"""One region's calls to AWS, against the local one."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from components.pools.aws import hooks
from services.autoscaler.aws import cloud as aws
from services.autoscaler.aws.cloud import Aws
from services.autoscaler.cloud import AnswerLostError, CloudError
from tests.components.pools.joining_client import eventually
from tests.local.aws.conftest import served
from tests.services.autoscaler import bed
from tests.services.autoscaler.bed import Cloud

WEST, REGION = "example-west-gpu-a", "us-west-2"


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    for endpoint in served():
        made, world = bed.cloud(endpoint), bed.example()
        bed.lay(made, world, bed.settings(world))
        yield made


@pytest.fixture
def west(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Aws:
    keys = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_ENDPOINT_URL": cloud.endpoint}
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    return Aws(REGION, "main")


def test_pages_are_read_to_the_end_and_groups_of_other_clusters_are_left_out(
    west: Aws, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    scaling = cloud.client("autoscaling", REGION)
    told = scaling.describe_auto_scaling_groups(AutoScalingGroupNames=[WEST])["AutoScalingGroups"][0]
    other = {"AutoScalingGroupName": "other", "MinSize": 0, "MaxSize": 1}
    template = {"LaunchTemplateName": told["LaunchTemplate"]["LaunchTemplateName"]}
    tags = [{"Key": "landbridge:cluster", "Value": "other", "PropagateAtLaunch": False}]
    scaling.create_auto_scaling_group(
        **other, VPCZoneIdentifier=told["VPCZoneIdentifier"], LaunchTemplate=template, Tags=tags
    )
    monkeypatch.setattr(aws, "PAGE", 2)
    found, _ = west.groups()
    assert sorted(found) == [
        "example-cpu-all",
        "example-system-a",
        "example-system-b",
        WEST,
        *(WEST[:-1] + z for z in "bc"),
    ]


def test_a_machine_that_we_ended_does_not_wait_for_its_hook(west: Aws, cloud: Cloud) -> None:
    scaling = cloud.client("autoscaling", REGION)
    told = {"".join(part.title() for part in name.split("_")): value for name, value in hooks.TERMINATION.items()}
    told["LifecycleHookName"] = told.pop("Name")
    scaling.put_lifecycle_hook(AutoScalingGroupName=WEST, **told)
    west.resize(WEST, 1)
    (machine,) = eventually(lambda: west.groups()[0][WEST].machines)
    assert west.end(WEST, [machine.id]) == {}
    found, waiting = west.groups()
    assert waiting == {machine.id: WEST}
    assert [one.state for one in found[WEST].machines] == ["ending"]
    assert found[WEST].desired == 0
    west.let_go(machine.id, WEST)
    eventually(lambda: not west.groups()[0][WEST].machines)
    west.let_go(machine.id, WEST)  # once more is no mistake


def test_what_aws_refuses_is_said_with_its_region_and_call(west: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CloudError, match=r"us-west-2: SetDesiredCapacity: .*above max value 40"):
        west.resize(WEST, 41)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(CloudError, match=r"us-west-2: DescribeAutoScalingGroups: .*Could not connect"):
        Aws(REGION, "main").groups()


NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "age", "fails"),
    [
        ("Failed", 5, True),
        ("Successful", 5, False),
        ("InProgress", 900, False),
        ("WaitingForSpotInstanceId", 200, False),
        ("WaitingForSpotInstanceId", 400, True),
        ("PendingSpotBidPlacement", 400, True),
    ],
)
def test_a_launch_that_waits_for_spot_for_long_has_failed(status: str, age: int, fails: bool) -> None:
    one: dict[str, Any] = {"StatusCode": status, "StartTime": NOW - timedelta(seconds=age), "Description": "Launching"}
    assert bool(list(aws._failures([one], NOW.timestamp()))) == fails


def test_a_change_whose_answer_is_lost_may_have_been_heard(west: Aws, cloud: Cloud) -> None:
    cloud.own("faults", [{"kind": "lost", "calls": 1, "operation": "SetDesiredCapacity"}])
    with pytest.raises(AnswerLostError, match="us-west-2: SetDesiredCapacity: "):
        west.resize(WEST, 1)
    assert west.size(WEST) == 1
    cloud.own("faults", [{"kind": "throttling", "calls": 1, "operation": "SetDesiredCapacity"}])
    with pytest.raises(CloudError) as caught:
        west.resize(WEST, 0)
    assert not isinstance(caught.value, AnswerLostError)
    west.resize(WEST, 0)
