"""Images of disks that were put block by block: as strict as EBS and EC2 are, kept on disk, and fit to start from."""

import base64
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local.aws import blocks

from .support import refused

Client = Callable[..., Any]
REGION, OTHER = "ca-central-1", "sa-east-1"
SIZE = 512 * 1024


@pytest.fixture(scope="module")
def ec2(client: Client) -> Any:
    return client("ec2", REGION)


@pytest.fixture(scope="module")
def ebs(client: Client) -> Any:
    return client("ebs", REGION)


def block(mark: str) -> bytes:
    return mark.encode().ljust(SIZE, b"\0")


def summed(data: bytes) -> str:
    return base64.b64encode(hashlib.sha256(data).digest()).decode()


def put(snapshot: str, index: int, data: bytes, **other: Any) -> dict[str, Any]:
    told = {"SnapshotId": snapshot, "BlockIndex": index, "BlockData": data, "DataLength": len(data)}
    return {**told, "Checksum": summed(data), "ChecksumAlgorithm": "SHA256", **other}


def completed(ebs: Any, *marks: str, **given: Any) -> str:
    snapshot = ebs.start_snapshot(VolumeSize=1, **given)["SnapshotId"]
    for index, mark in enumerate(marks):
        ebs.put_snapshot_block(**put(snapshot, index, block(mark)))
    ebs.complete_snapshot(SnapshotId=snapshot, ChangedBlocksCount=len(marks))
    return str(snapshot)


def registered(name: str, snapshot: str, **given: Any) -> dict[str, Any]:
    mapping = {"DeviceName": "/dev/sda1", "Ebs": {"SnapshotId": snapshot, "VolumeType": "gp3"}}
    plain = {"Name": name, "RootDeviceName": "/dev/sda1", "BlockDeviceMappings": [mapping], "Architecture": "x86_64"}
    return {**plain, "VirtualizationType": "hvm", **given}


def available(ec2: Any, image: str) -> dict[str, Any]:
    ec2.get_waiter("image_available").wait(ImageIds=[image], WaiterConfig={"Delay": 0.1, "MaxAttempts": 100})
    return dict(ec2.describe_images(ImageIds=[image])["Images"][0])


@pytest.fixture(scope="module")
def image(ec2: Any, ebs: Any) -> str:
    """One that is available, with the tag that machines go by."""
    snapshot = completed(ebs, "boot", "root", Encrypted=True)
    tags = [{"Key": "landbridge:kubernetes", "Value": "1.35.8"}]
    spec = [{"ResourceType": "image", "Tags": tags}]
    made = ec2.register_image(**registered("whole", snapshot, BootMode="uefi", TagSpecifications=spec))["ImageId"]
    available(ec2, made)
    return str(made)


def test_blocks_are_taken_as_ebs_takes_them(ec2: Any, ebs: Any) -> None:
    snapshot = ebs.start_snapshot(VolumeSize=1, ClientToken="one", Tags=[{"Key": "of", "Value": "disk"}])["SnapshotId"]
    assert ebs.start_snapshot(VolumeSize=1, ClientToken="one", Tags=[{"Key": "of", "Value": "disk"}])["SnapshotId"] == (
        snapshot
    )
    assert refused(ebs.start_snapshot, VolumeSize=2, ClientToken="one") == "ConflictException"
    told = ec2.describe_snapshots(SnapshotIds=[snapshot])["Snapshots"][0]
    assert (told["State"], told["VolumeSize"], told["Tags"]) == ("pending", 1, [{"Key": "of", "Value": "disk"}])
    one, invalid = block("one"), "ValidationException"
    assert refused(ebs.put_snapshot_block, **put(snapshot, 0, one, Checksum=summed(b"other"))) == invalid
    assert refused(ebs.put_snapshot_block, **put(snapshot, 0, one[:-1])) == invalid
    assert refused(ebs.put_snapshot_block, **put(snapshot, 2048, one)) == invalid, "1 GiB has 2,048 blocks"
    assert refused(ebs.put_snapshot_block, **put("snap-1", 0, one)) == "ResourceNotFoundException"
    ebs.put_snapshot_block(**put(snapshot, 2047, one))
    ebs.put_snapshot_block(**put(snapshot, 3, one))
    assert refused(ebs.list_snapshot_blocks, SnapshotId=snapshot) == invalid, "nobody reads a pending one"
    assert refused(ec2.register_image, **registered("early", snapshot)) == "IncorrectState"
    assert refused(ebs.complete_snapshot, SnapshotId=snapshot, ChangedBlocksCount=1) == invalid
    digest = hashlib.sha256(one).digest()
    whole = {"ChecksumAlgorithm": "SHA256", "ChecksumAggregationMethod": "LINEAR"}
    last = {"SnapshotId": snapshot, "ChangedBlocksCount": 2, **whole}
    assert refused(ebs.complete_snapshot, **last, Checksum=summed(digest)) == invalid
    ebs.complete_snapshot(**last, Checksum=summed(digest + digest))
    assert refused(ebs.put_snapshot_block, **put(snapshot, 4, one)) == invalid, "it is sealed"
    listed = ebs.list_snapshot_blocks(SnapshotId=snapshot)["Blocks"]
    assert [each["BlockIndex"] for each in listed] == [3, 2047]
    assert ebs.get_snapshot_block(SnapshotId=snapshot, **listed[1])["BlockData"].read() == one
    wrong = {"BlockIndex": 3, "BlockToken": "other"}
    assert refused(ebs.get_snapshot_block, SnapshotId=snapshot, **wrong) == invalid


def test_a_snapshot_that_nobody_goes_on_with_is_cancelled(ec2: Any, ebs: Any, own: Client) -> None:
    snapshot = ebs.start_snapshot(VolumeSize=1, Timeout=10)["SnapshotId"]
    own("clock", {"advance": 9 * 60})
    ebs.put_snapshot_block(**put(snapshot, 0, block("late")))
    own("clock", {"advance": 9 * 60})
    assert ec2.describe_snapshots(SnapshotIds=[snapshot])["Snapshots"][0]["State"] == "pending"
    own("clock", {"advance": 2 * 60})
    assert ec2.describe_snapshots(SnapshotIds=[snapshot])["Snapshots"][0]["State"] == "error"
    assert refused(ebs.put_snapshot_block, **put(snapshot, 1, block("too late"))) == "ValidationException"


def test_an_image_is_what_was_registered(ec2: Any, ebs: Any) -> None:
    snapshot = completed(ebs, "a")
    assert refused(ec2.register_image, **registered("na;me", snapshot)) == "InvalidAMIName.Malformed"
    assert refused(ec2.register_image, **registered("none", "snap-0123456789abcdef0")) == "InvalidSnapshot.NotFound"
    given = {"EnaSupport": True, "ImdsSupport": "v2.0", "BootMode": "uefi", "Description": "some"}
    made = ec2.register_image(**registered("named", snapshot, **given))["ImageId"]
    machine = {"ImageId": made, "InstanceType": "t3.micro", "MinCount": 1, "MaxCount": 1}
    told = available(ec2, made)
    assert {key: told[key] for key in given} == given
    assert told["BlockDeviceMappings"][0]["Ebs"]["SnapshotId"] == snapshot
    assert refused(ec2.register_image, **registered("named", snapshot)) == "InvalidAMIName.Duplicate"
    by_snapshot = [{"Name": "block-device-mapping.snapshot-id", "Values": [snapshot]}]
    assert [one["ImageId"] for one in ec2.describe_images(Filters=by_snapshot)["Images"]] == [made]
    assert refused(ec2.delete_snapshot, SnapshotId=snapshot) == "InvalidSnapshot.InUse"
    ec2.disable_image(ImageId=made)
    assert ec2.describe_images(Filters=by_snapshot)["Images"] == []
    assert len(ec2.describe_images(Filters=by_snapshot, IncludeDisabled=True)["Images"]) == 1
    assert refused(ec2.run_instances, **machine) == "InvalidAMIID.Unavailable"
    ec2.enable_image(ImageId=made)
    # Other tests of the same server have set its clock forward by days.
    past, soon = datetime.now(UTC) - timedelta(days=1), datetime.now(UTC) + timedelta(days=60)
    assert refused(ec2.enable_image_deprecation, ImageId=made, DeprecateAt=past) == "InvalidParameterValue"
    ec2.enable_image_deprecation(ImageId=made, DeprecateAt=soon)
    assert ec2.describe_images(ImageIds=[made])["Images"][0]["DeprecationTime"].startswith(f"{soon:%Y-%m-%d}T")
    ec2.disable_image_deprecation(ImageId=made)
    assert "DeprecationTime" not in ec2.describe_images(ImageIds=[made])["Images"][0]
    ec2.deregister_image(ImageId=made)
    assert ec2.describe_snapshots(SnapshotIds=[snapshot])["Snapshots"], "its snapshot stays unless it is asked for"
    ec2.delete_snapshot(SnapshotId=snapshot)


def test_an_image_is_pending_for_a_moment_in_which_no_machine_starts_from_it(ec2: Any, ebs: Any) -> None:
    """A busy machine may miss the moment: one of ten is seen in it."""
    snapshot, codes, states = completed(ebs, "a"), list[str](), set[str]()
    while not codes and len(states) < 10:
        made = ec2.register_image(**registered(f"waiting-{len(states)}", snapshot))["ImageId"]
        seen = ec2.describe_images(ImageIds=[made])["Images"][0]["State"]
        try:
            ec2.run_instances(ImageId=made, InstanceType="t3.micro", MinCount=1, MaxCount=1)
        except ClientError as error:
            codes.append(f"{seen} {error.response['Error']['Code']}")
        states.add(f"{made} {seen}")
    assert codes == ["pending InvalidAMIID.Unavailable"], states


def test_a_copy_is_encrypted_has_tags_of_its_own_and_is_made_once(client: Client, ec2: Any, image: str) -> None:
    other = client("ec2", OTHER)
    spec = [{"ResourceType": kind, "Tags": [{"Key": "kind", "Value": kind}]} for kind in ("image", "snapshot")]
    given = {"Name": "copy", "SourceRegion": REGION, "SourceImageId": image, "Encrypted": True, "ClientToken": "two"}
    made = other.copy_image(**given, TagSpecifications=spec)["ImageId"]
    assert other.copy_image(**given, TagSpecifications=spec)["ImageId"] == made
    assert refused(other.copy_image, **{**given, "Name": "more"}) == "IdempotentParameterMismatch"
    assert refused(other.copy_image, **{**given, "ClientToken": "three"}) == "InvalidAMIName.Duplicate"
    told = available(other, made)
    ebs = told["BlockDeviceMappings"][0]["Ebs"]
    assert (told["SourceImageId"], told["Tags"], ebs["Encrypted"]) == (image, [{"Key": "kind", "Value": "image"}], True)
    snapshot = other.describe_snapshots(SnapshotIds=[ebs["SnapshotId"]])["Snapshots"][0]
    assert (snapshot["State"], snapshot["Tags"]) == ("completed", [{"Key": "kind", "Value": "snapshot"}])
    source = ec2.describe_images(ImageIds=[image])["Images"][0]["BlockDeviceMappings"][0]["Ebs"]["SnapshotId"]
    lists = [
        client("ebs", region).list_snapshot_blocks(SnapshotId=one)["Blocks"]
        for region, one in ((REGION, source), (OTHER, ebs["SnapshotId"]))
    ]
    assert lists[0] == lists[1], "what they share lies on the disk once"
    gone = other.deregister_image(ImageId=made, DeleteAssociatedSnapshots=True)["DeleteSnapshotResults"]
    assert gone == [{"SnapshotId": ebs["SnapshotId"], "ReturnCode": "success"}]
    first = lists[0][0]
    assert client("ebs", REGION).get_snapshot_block(SnapshotId=source, **first)["BlockData"].read() == block("boot")


def test_machines_start_from_it_with_the_version_in_its_tag(ec2: Any, own: Client, image: str) -> None:
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
    given = {"InstanceType": "t3.micro", "SubnetId": subnet, "MinCount": 1, "MaxCount": 1}
    (made,) = ec2.run_instances(ImageId=image, UserData="#!/bin/sh\n", **given)["Instances"]
    (told,) = [one for one in own("world")["machines"] if one["id"] == made["InstanceId"]]
    assert (told["image"], told["kubernetes"]) == (image, "1.35.8")
    ec2.terminate_instances(InstanceIds=[made["InstanceId"]])


def test_blocks_lie_on_disk_once_and_become_a_disk_again(tmp_path: Path) -> None:
    before = blocks.folder()
    try:
        blocks.keep_in(tmp_path / "blocks")
        names = {3: blocks.put(block("a")), 0: blocks.put(block("a")), 5: blocks.put(block("b"))}
        assert len(list((tmp_path / "blocks").rglob("*/*"))) == 2
        disk = tmp_path / "disk.raw"
        blocks.write_disk(names, 1, disk)
        assert (disk.stat().st_size, disk.stat().st_blocks * 512) == (1 << 30, 3 * SIZE)
        with disk.open("rb") as stream:
            stream.seek(3 * SIZE)
            assert stream.read(3 * SIZE) == block("a") + bytes(SIZE) + block("b")
        blocks.forget(names.values(), [names[0]])
        assert [file.name for file in (tmp_path / "blocks").rglob("*/*")] == [names[0]]
    finally:
        blocks.keep_in(before)
