"""What a scaling group or RunInstances launches is what the template says, version by version."""

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from local import standins
from local.kubernetes import BUILT_IN

from .support import image, refused

Client = Callable[..., Any]
REGION = "eu-central-1"


@pytest.fixture(scope="module")
def ec2(client: Client) -> Any:
    return client("ec2", REGION)


@pytest.fixture(scope="module")
def subnet(ec2: Any) -> Any:
    return ec2.describe_subnets()["Subnets"][0]


@pytest.fixture(scope="module")
def data(client: Client, ec2: Any, subnet: Any) -> Iterator[dict[str, Any]]:
    iam = client("iam")
    trust = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    iam.create_role(RoleName="launched", AssumeRolePolicyDocument=document)
    iam.create_instance_profile(InstanceProfileName="launched")
    iam.add_role_to_instance_profile(InstanceProfileName="launched", RoleName="launched")
    group = ec2.create_security_group(GroupName="launched", Description="x", VpcId=subnet["VpcId"])["GroupId"]
    ec2.create_placement_group(GroupName="launched", Strategy="cluster")
    tags = [{"Key": "from", "Value": "template"}, {"Key": "pool", "Value": "template"}]
    root = {"VolumeSize": 30, "VolumeType": "gp3", "Iops": 4000, "Throughput": 250, "Encrypted": True}
    yield {
        "ImageId": image(ec2),
        "InstanceType": "t3.micro",
        "UserData": base64.b64encode(b"boot").decode(),
        "IamInstanceProfile": {"Name": "launched"},
        "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 2},
        "Monitoring": {"Enabled": True},
        "Placement": {"GroupName": "launched"},
        "InstanceMarketOptions": {"MarketType": "spot"},
        "NetworkInterfaces": [{"DeviceIndex": 0, "AssociatePublicIpAddress": False, "Groups": [group]}],
        "BlockDeviceMappings": [
            {"DeviceName": "/dev/sda1", "Ebs": root},
            {"DeviceName": "/dev/sdb", "Ebs": {"VolumeSize": 9, "DeleteOnTermination": False}},
        ],
        "TagSpecifications": [{"ResourceType": kind, "Tags": tags} for kind in ("instance", "volume")],
    }
    iam.remove_role_from_instance_profile(InstanceProfileName="launched", RoleName="launched")
    iam.delete_instance_profile(InstanceProfileName="launched")
    iam.delete_role(RoleName="launched")


@pytest.fixture
def template(ec2: Any, data: dict[str, Any]) -> Iterator[str]:
    made = ec2.create_launch_template(LaunchTemplateName="launched", LaunchTemplateData=data)["LaunchTemplate"]
    yield str(made["LaunchTemplateId"])
    ec2.delete_launch_template(LaunchTemplateId=made["LaunchTemplateId"])


def described(ec2: Any, *ids: str) -> list[Any]:
    found = ec2.describe_instances(InstanceIds=list(ids))["Reservations"]
    return [machine for reservation in found for machine in reservation["Instances"]]


def test_a_group_s_machine_is_what_the_template_says(client: Client, ec2: Any, subnet: Any, template: str) -> None:
    scaling = client("autoscaling", REGION)
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="launched",
        MinSize=1,
        MaxSize=3,
        VPCZoneIdentifier=subnet["SubnetId"],
        LaunchTemplate={"LaunchTemplateId": template, "Version": "1"},
        Tags=[{"Key": "pool", "Value": "group", "PropagateAtLaunch": True}],
    )
    group = scaling.describe_auto_scaling_groups(AutoScalingGroupNames=["launched"])["AutoScalingGroups"][0]
    (member,) = group["Instances"]
    assert member["LaunchTemplate"]["Version"] == "1"
    (machine,) = described(ec2, member["InstanceId"])
    (nic,) = machine["NetworkInterfaces"]
    assert nic["PrivateIpAddress"].rpartition(".")[0] == subnet["CidrBlock"].rpartition(".")[0]
    assert (nic["Attachment"]["DeleteOnTermination"], machine.get("PublicIpAddress")) == (True, None)
    assert (
        [g["GroupName"] for g in machine["SecurityGroups"]] == ["launched"] == [g["GroupName"] for g in nic["Groups"]]
    )
    assert machine["IamInstanceProfile"]["Arn"].endswith(":instance-profile/launched")
    assert (machine["MetadataOptions"]["HttpTokens"], machine["MetadataOptions"]["HttpPutResponseHopLimit"]) == (
        "required",
        2,
    )
    assert (machine["Monitoring"]["State"], machine["InstanceLifecycle"]) == ("enabled", "spot")
    assert machine["Placement"]["GroupName"] == "launched"
    assert machine["PrivateDnsName"].endswith(f".{REGION}.compute.internal")
    tags = {tag["Key"]: tag["Value"] for tag in machine["Tags"]}
    assert (tags["from"], tags["pool"]) == ("template", "group"), "the group's own tags come first"
    said = ec2.describe_instance_attribute(InstanceId=machine["InstanceId"], Attribute="userData")["UserData"]["Value"]
    assert base64.b64decode(said) == b"boot"
    devices = {mapping["DeviceName"]: mapping["Ebs"] for mapping in machine["BlockDeviceMappings"]}
    assert {name: ebs["DeleteOnTermination"] for name, ebs in devices.items()} == {"/dev/sda1": True, "/dev/sdb": False}
    (root,) = ec2.describe_volumes(VolumeIds=[devices["/dev/sda1"]["VolumeId"]])["Volumes"]
    found = root["Size"], root["VolumeType"], root["Iops"], root["Throughput"], root["Encrypted"]
    assert found == (30, "gp3", 4000, 250, True)
    assert {"Key": "from", "Value": "template"} in root["Tags"]
    assert refused(ec2.delete_placement_group, GroupName="launched") == "InvalidPlacementGroup.InUse"
    ec2.create_launch_template_version(
        LaunchTemplateId=template, LaunchTemplateData={"ImageId": image(ec2), "InstanceType": "t3.small"}
    )
    launch = {"LaunchTemplateId": template, "Version": "$Latest"}
    scaling.update_auto_scaling_group(AutoScalingGroupName="launched", LaunchTemplate=launch, DesiredCapacity=2)
    group = scaling.describe_auto_scaling_groups(AutoScalingGroupNames=["launched"])["AutoScalingGroups"][0]
    versions = {each["InstanceId"]: each["LaunchTemplate"]["Version"] for each in group["Instances"]}
    assert sorted(versions.values()) == ["1", "2"], "each machine tells what it was launched from"
    kinds = {each["InstanceId"]: each["InstanceType"] for each in described(ec2, *versions)}
    assert {versions[name]: kind for name, kind in kinds.items()} == {"1": "t3.micro", "2": "t3.small"}
    scaling.delete_auto_scaling_group(AutoScalingGroupName="launched", ForceDelete=True)
    (kept,) = ec2.describe_volumes(VolumeIds=[devices["/dev/sdb"]["VolumeId"]])["Volumes"]
    assert kept["State"] == "available"
    ec2.delete_volume(VolumeId=kept["VolumeId"])
    ec2.delete_placement_group(GroupName="launched")
    assert refused(ec2.describe_placement_groups, GroupNames=["launched"]) == "InvalidPlacementGroup.Unknown"
    ec2.create_placement_group(GroupName="launched", Strategy="cluster")


def test_a_call_s_own_words_come_before_the_template_s(
    ec2: Any, subnet: Any, template: str, data: dict[str, Any]
) -> None:
    launch = {"LaunchTemplateId": template}
    options = {"HttpTokens": "optional"}
    own = {
        "DeviceIndex": 0,
        "SubnetId": subnet["SubnetId"],
        "PrivateIpAddress": subnet["CidrBlock"].replace(".0/", ".99/")[:-3],
    }
    given = {
        "LaunchTemplate": launch,
        "MetadataOptions": options,
        "NetworkInterfaces": [own],
        "MinCount": 1,
        "MaxCount": 1,
    }
    (made,) = ec2.run_instances(**given, InstanceType="t3.large")["Instances"]
    assert (made["InstanceType"], made["MetadataOptions"]["HttpTokens"]) == ("t3.large", "optional")
    assert made["MetadataOptions"]["HttpPutResponseHopLimit"] == 2
    assert made["PrivateIpAddress"] == own["PrivateIpAddress"]
    ec2.terminate_instances(InstanceIds=[made["InstanceId"]])
    left = ec2.describe_volumes(Filters=[{"Name": "tag:from", "Values": ["template"]}])["Volumes"]
    for volume in left:
        ec2.delete_volume(VolumeId=volume["VolumeId"])


@pytest.mark.parametrize(
    ("part", "code"),
    [
        ({"IamInstanceProfile": {"Name": "nobody"}}, "InvalidParameterValue"),
        ({"Placement": {"GroupName": "nowhere"}}, "InvalidPlacementGroup.Unknown"),
        ({"SecurityGroupIds": ["sg-1"]}, "InvalidParameterCombination"),
        ({"ImageId": "ami-00000000"}, "InvalidAMIID.NotFound"),
    ],
)
def test_a_template_that_can_t_be_launched_is_refused(
    ec2: Any, subnet: Any, template: str, data: dict[str, Any], part: dict[str, Any], code: str
) -> None:
    ec2.create_launch_template_version(LaunchTemplateId=template, LaunchTemplateData={**data, **part})
    launch = {"LaunchTemplateId": template, "Version": "$Latest"}
    before = len(ec2.describe_instances()["Reservations"])
    given = {"MinCount": 1, "MaxCount": 1, "SubnetId": subnet["SubnetId"]}
    assert refused(ec2.run_instances, LaunchTemplate=launch, **given) == code
    assert len(ec2.describe_instances()["Reservations"]) == before
    assert (
        refused(ec2.run_instances, LaunchTemplate={"LaunchTemplateId": "lt-1"}, **given)
        == "InvalidLaunchTemplateId.NotFound"
    )


def test_the_latest_version_becomes_the_default(ec2: Any, template: str) -> None:
    ec2.create_launch_template_version(LaunchTemplateId=template, LaunchTemplateData={"InstanceType": "t3.small"})
    changed = ec2.modify_launch_template(LaunchTemplateId=template, DefaultVersion="$Latest")["LaunchTemplate"]
    assert changed["DefaultVersionNumber"] == 2


def test_a_group_s_placement_comes_first_and_interfaces_for_efa_alone_have_no_address(
    client: Client, own: Client, ec2: Any, subnet: Any, data: dict[str, Any]
) -> None:
    nics = [{"DeviceIndex": 0, "NetworkCardIndex": 0, "InterfaceType": "efa"}]
    nics += [{"DeviceIndex": 1, "NetworkCardIndex": card, "InterfaceType": "efa-only"} for card in range(1, 32)]
    given = {**data, "NetworkInterfaces": nics, "Placement": {}, "InstanceType": "p5.48xlarge"}
    # What makes a machine of it: its image, and a script.
    given["ImageId"] = standins.STAND_INS[standins.image("gpu", BUILT_IN)]
    given["UserData"] = base64.b64encode(b"#!/bin/sh\n").decode()
    template = ec2.create_launch_template(LaunchTemplateName="fabric", LaunchTemplateData=given)["LaunchTemplate"]
    free = subnet_free(ec2, subnet)
    scaling = client("autoscaling", REGION)
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="fabric",
        MinSize=1,
        MaxSize=1,
        PlacementGroup="launched",
        VPCZoneIdentifier=subnet["SubnetId"],
        LaunchTemplate={"LaunchTemplateId": template["LaunchTemplateId"], "Version": "$Latest"},
    )
    group = scaling.describe_auto_scaling_groups(AutoScalingGroupNames=["fabric"])["AutoScalingGroups"][0]
    (machine,) = described(ec2, group["Instances"][0]["InstanceId"])
    assert machine["Placement"]["GroupName"] == "launched"
    assert len(machine["NetworkInterfaces"]) == 1
    assert free - subnet_free(ec2, subnet) == 1
    told = [one["hardware"] for one in own("world")["machines"] if one["id"] == machine["InstanceId"]]
    assert [hardware["efa"] for hardware in told] == [32], "the machine has all of them"
    scaling.delete_auto_scaling_group(AutoScalingGroupName="fabric", ForceDelete=True)
    ec2.delete_launch_template(LaunchTemplateId=template["LaunchTemplateId"])


def subnet_free(ec2: Any, subnet: Any) -> int:
    return int(ec2.describe_subnets(SubnetIds=[subnet["SubnetId"]])["Subnets"][0]["AvailableIpAddressCount"])
