"""Volumes and interfaces go from machine to machine as EC2 lets them, and no other way."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .support import image, refused

Client = Callable[..., Any]
REGION = "eu-north-1"


@pytest.fixture(scope="module")
def ec2(client: Client) -> Any:
    return client("ec2", REGION)


@pytest.fixture
def machines(ec2: Any) -> Iterator[list[str]]:
    """Two in the first zone, one in the second."""
    subnets = sorted(ec2.describe_subnets()["Subnets"], key=lambda subnet: subnet["AvailabilityZone"])
    made = [
        ec2.run_instances(
            ImageId=image(ec2), MinCount=1, MaxCount=1, InstanceType="t3.micro", SubnetId=subnets[n]["SubnetId"]
        )
        for n in (0, 0, 1)
    ]
    ids = [answer["Instances"][0]["InstanceId"] for answer in made]
    yield ids
    ec2.terminate_instances(InstanceIds=ids)


@pytest.fixture
def volume(ec2: Any) -> Iterator[str]:
    made = ec2.create_volume(AvailabilityZone=f"{REGION}a", Size=10, VolumeType="gp3")["VolumeId"]
    yield made
    ec2.delete_volume(VolumeId=made)


@pytest.fixture
def interface(ec2: Any) -> Iterator[str]:
    subnet = next(s for s in ec2.describe_subnets()["Subnets"] if s["AvailabilityZone"] == f"{REGION}a")
    made = ec2.create_network_interface(SubnetId=subnet["SubnetId"])["NetworkInterface"]["NetworkInterfaceId"]
    yield made
    ec2.delete_network_interface(NetworkInterfaceId=made)


def state(ec2: Any, volume: str) -> str:
    return str(ec2.describe_volumes(VolumeIds=[volume])["Volumes"][0]["State"])


def seen(ec2: Any, interface: str) -> Any:
    return ec2.describe_network_interfaces(NetworkInterfaceIds=[interface])["NetworkInterfaces"][0]


def test_a_volume_is_in_one_machine_of_its_zone_and_survives_it(ec2: Any, machines: list[str], volume: str) -> None:
    first, second, elsewhere = machines
    place = {"VolumeId": volume, "Device": "/dev/sdf"}
    assert refused(ec2.attach_volume, InstanceId=elsewhere, **place) == "InvalidVolume.ZoneMismatch"
    assert refused(ec2.attach_volume, InstanceId=first, VolumeId=volume, Device="/dev/sda1") == "InvalidParameterValue"
    assert refused(ec2.detach_volume, VolumeId=volume) == "IncorrectState"
    ec2.attach_volume(InstanceId=first, **place)
    assert state(ec2, volume) == "in-use"
    assert refused(ec2.attach_volume, InstanceId=second, **place) == "VolumeInUse"
    assert refused(ec2.delete_volume, VolumeId=volume) == "VolumeInUse"
    assert refused(ec2.detach_volume, InstanceId=second, VolumeId=volume) == "InvalidAttachment.NotFound"
    ec2.terminate_instances(InstanceIds=[first])
    assert state(ec2, volume) == "available"
    assert refused(ec2.attach_volume, InstanceId=first, **place) == "IncorrectState"
    ec2.attach_volume(InstanceId=second, **place)
    ec2.detach_volume(VolumeId=volume)
    assert state(ec2, volume) == "available"


def test_a_root_volume_stays_with_its_running_machine(ec2: Any, machines: list[str]) -> None:
    (found,) = ec2.describe_instances(InstanceIds=[machines[0]])["Reservations"]
    root = found["Instances"][0]["BlockDeviceMappings"][0]["Ebs"]["VolumeId"]
    assert refused(ec2.detach_volume, VolumeId=root) == "OperationNotPermitted"


def test_a_volume_grows_and_never_shrinks(ec2: Any, volume: str) -> None:
    ec2.modify_volume(VolumeId=volume, Size=20)
    assert refused(ec2.modify_volume, VolumeId=volume, Size=10) == "InvalidParameterValue"


def test_an_interface_is_in_one_machine_of_its_zone_and_survives_it(
    ec2: Any, machines: list[str], interface: str
) -> None:
    first, second, elsewhere = machines
    place = {"NetworkInterfaceId": interface, "DeviceIndex": 1}
    assert refused(ec2.attach_network_interface, InstanceId=elsewhere, **place) == "InvalidParameterCombination"
    asked = {"NetworkInterfaceId": interface, "DeviceIndex": 0, "InstanceId": first}
    assert refused(ec2.attach_network_interface, **asked) == "InvalidParameterValue"
    ec2.attach_network_interface(InstanceId=first, **place)
    held = seen(ec2, interface)
    assert (held["Status"], held["Attachment"]["InstanceId"]) == ("in-use", first)
    assert refused(ec2.attach_network_interface, InstanceId=second, **place) == "InvalidNetworkInterface.InUse"
    assert refused(ec2.delete_network_interface, NetworkInterfaceId=interface) == "InvalidNetworkInterface.InUse"
    ec2.terminate_instances(InstanceIds=[first])
    assert seen(ec2, interface)["Status"] == "available"
    assert "Attachment" not in seen(ec2, interface)
    assert refused(ec2.attach_network_interface, InstanceId=first, **place) == "IncorrectState"
    made = ec2.attach_network_interface(InstanceId=second, **place)["AttachmentId"]
    ec2.detach_network_interface(AttachmentId=made)
    assert seen(ec2, interface)["Status"] == "available"


def test_an_interface_keeps_its_own_groups_and_the_first_one_its_machine(
    ec2: Any, machines: list[str], interface: str
) -> None:
    subnet = ec2.describe_subnets(SubnetIds=[seen(ec2, interface)["SubnetId"]])["Subnets"][0]
    group = ec2.create_security_group(GroupName="own", Description="x", VpcId=subnet["VpcId"])["GroupId"]
    ec2.modify_network_interface_attribute(NetworkInterfaceId=interface, Groups=[group])
    ec2.attach_network_interface(InstanceId=machines[0], NetworkInterfaceId=interface, DeviceIndex=1)
    assert [g["GroupId"] for g in seen(ec2, interface)["Groups"]] == [group]
    (found,) = ec2.describe_instances(InstanceIds=[machines[0]])["Reservations"]
    nics = {nic["Attachment"]["DeviceIndex"]: nic for nic in found["Instances"][0]["NetworkInterfaces"]}
    first = nics[0]["Attachment"]["AttachmentId"]
    assert refused(ec2.detach_network_interface, AttachmentId=first) == "OperationNotPermitted"
    ec2.detach_network_interface(AttachmentId=nics[1]["Attachment"]["AttachmentId"])


def test_an_interface_has_no_group_that_does_not_exist(ec2: Any) -> None:
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
    assert refused(ec2.create_network_interface, SubnetId=subnet, Groups=["sg-1"]) == "InvalidGroup.NotFound"


def test_a_snapshot_would_hold_no_data_so_that_none_is_taken(ec2: Any, volume: str) -> None:
    for name, given in (
        ("create_snapshot", {"VolumeId": volume}),
        ("create_snapshots", {"InstanceSpecification": {"InstanceId": "i-00000000000000000"}}),
        ("copy_snapshot", {"SourceRegion": REGION, "SourceSnapshotId": "snap-1"}),
        ("create_volume", {"AvailabilityZone": f"{REGION}a", "SnapshotId": "snap-1"}),
    ):
        assert refused(getattr(ec2, name), **given) == "UnsupportedOperation", name
    restored = [{"DeviceName": "/dev/sdf", "Ebs": {"SnapshotId": "snap-1", "VolumeSize": 10}}]
    asked = {"ImageId": image(ec2), "MinCount": 1, "MaxCount": 1, "BlockDeviceMappings": restored}
    assert refused(ec2.run_instances, **asked) == "UnsupportedOperation"
    states = [i["State"]["Name"] for r in ec2.describe_instances()["Reservations"] for i in r["Instances"]]
    assert set(states) <= {"terminated"}, "a launch that is refused leaves nothing behind"
