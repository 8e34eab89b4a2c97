"""Instances and tags are found by id as they are found by a look at all."""

from collections.abc import Callable
from typing import Any

import pytest

from .support import refused

REGION = "eu-north-1"


@pytest.fixture(scope="module")
def ec2(client: Callable[..., Any]) -> Any:
    return client("ec2", REGION)


@pytest.fixture(scope="module")
def machines(ec2: Any) -> list[str]:
    image = ec2.describe_images()["Images"][0]["ImageId"]
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": ""}]}]
    made = ec2.run_instances(ImageId=image, InstanceType="m7i.large", MinCount=3, MaxCount=3, TagSpecifications=tags)
    return [one["InstanceId"] for one in made["Instances"]]


def tags(ec2: Any, *ids: str, **also: str) -> list[tuple[str, ...]]:
    filters = [{"Name": "resource-id", "Values": list(ids)}]
    filters += [{"Name": name.replace("_", "-"), "Values": [value]} for name, value in also.items()]
    found = ec2.describe_tags(Filters=filters)["Tags"]
    return sorted((one["ResourceId"], one["ResourceType"], one["Key"], one["Value"]) for one in found)


def test_tags_of_named_resources_are_those_that_a_look_at_all_finds(ec2: Any, machines: list[str]) -> None:
    first, second, _ = machines
    told = tags(ec2, first, second)
    assert told == [(id_, "instance", key, value) for id_ in sorted((first, second)) for key, value in TAGS]
    assert told == tags(ec2, first, second, resource_type="instance"), "two filters: looked for among all"
    assert tags(ec2, f"{first[:-1]}?") == tags(ec2, first), "a pattern names more than one"
    ec2.create_tags(Resources=[first], Tags=[{"Key": "a", "Value": "2"}])
    assert tags(ec2, first)[0] == (first, "instance", "a", "2")
    assert tags(ec2, "i-0000000000000000f") == []


TAGS = (("a", "1"), ("b", ""))


def test_an_instance_is_found_as_soon_as_it_is_there_and_none_that_never_was(ec2: Any, machines: list[str]) -> None:
    def state(id_: str) -> str:
        return str(ec2.describe_instances(InstanceIds=[id_])["Reservations"][0]["Instances"][0]["State"]["Name"])

    assert {state(id_) for id_ in machines} <= {"pending", "running"}
    unknown = "i-0123456789abcdef0"
    for call in (ec2.terminate_instances, ec2.stop_instances):
        assert refused(call, InstanceIds=[unknown]) == "InvalidInstanceID.NotFound"
    ec2.terminate_instances(InstanceIds=machines[2:])
    assert state(machines[2]) in ("shutting-down", "terminated")
