"""Volumes of a destroyed cluster stay, but no machine of its successor takes them for its own."""

import datetime
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from landbridge.clouds.aws import leftovers
from landbridge.engine.stack_report import Step
from landbridge.up.blast_radius import blast

DAY = datetime.date(2026, 11, 21)


@pytest.fixture
def ec2() -> Iterator[Any]:
    with mock_aws():
        yield boto3.client("ec2", "us-west-2", aws_access_key_id="x", aws_secret_access_key="x")


def volume(ec2: Any, **tags: str) -> str:
    listed = [{"Key": f"landbridge:{key}", "Value": value} for key, value in tags.items()]
    specification = [{"ResourceType": "volume", "Tags": listed}]
    made = ec2.create_volume(AvailabilityZone="us-west-2a", Size=1, TagSpecifications=specification)
    return str(made["VolumeId"])


def tags(ec2: Any, id_: str) -> dict[str, str]:
    (found,) = ec2.describe_volumes(VolumeIds=[id_])["Volumes"]
    return {tag["Key"].removeprefix("landbridge:"): tag["Value"] for tag in found["Tags"]}


def settle(ec2: Any, *, delete: bool) -> list[str]:
    return leftovers.settle(lambda _: ec2, "example", "main", delete=delete, today=DAY)


def test_what_a_cluster_leaves_is_set_aside_and_named(ec2: Any) -> None:
    mine = volume(ec2, fleet="example", cluster="main", machine="main-etcd-1", disk="etcd-main")
    others = [
        volume(ec2, fleet="example", cluster="two", machine="two-etcd-1", disk="etcd-main"),
        volume(ec2, fleet="other", cluster="main", machine="main-etcd-1", disk="etcd-main"),
        volume(ec2, fleet="example", cluster="main", machine="main-etcd-1"),
    ]
    before = [tags(ec2, other) for other in others]
    assert settle(ec2, delete=False) == [f"kept, with its data: {mine} (main-etcd-1 etcd-main)"]
    found = tags(ec2, mine)
    assert "disk" not in found
    assert (found["kept"], found["machine"]) == ("etcd-main 2026-11-21", "main-etcd-1")
    assert [tags(ec2, other) for other in others] == before
    assert settle(ec2, delete=True) == [], "what was set aside before is nobody's business any more"


def test_told_so_it_deletes_them(ec2: Any) -> None:
    mine = volume(ec2, fleet="example", cluster="main", machine="main-etcd-1", disk="etcd-main")
    other = volume(ec2, fleet="example", cluster="two", machine="two-etcd-1", disk="etcd-main")
    assert settle(ec2, delete=True) == [f"deleted: {mine} (main-etcd-1 etcd-main)"]
    assert [found["VolumeId"] for found in ec2.describe_volumes()["Volumes"]] == [other]


def test_what_stays_is_no_loss_unless_the_run_deletes_it() -> None:
    steps = [Step("deleted", "aws:ebs/volume:Volume", "etcd-1-main", True, (), {}, retained=True)]
    found = blast({"main": steps})
    assert (found.total("destroy"), found.losses, found.retained) == (0, [], ["volume etcd-1-main of main"])
    assert found.protected == ["etcd-1-main of main"], "the engine asks for these all the same"
    found = blast({"main": steps}, keep=False)
    assert (found.total("destroy"), found.losses, found.retained) == (1, ["destroys volume etcd-1-main of main"], [])
