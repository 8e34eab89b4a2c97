"""The inventory lists what a destroy could leave behind, and nothing that it did not."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from local.aws.inventory import KINDS

from .support import image

Client = Callable[..., Any]
REGION = "ap-northeast-1"
ACCOUNT = "123456789012"


def listed(own: Callable[..., Any], region: str, kind: str) -> list[str]:
    return list(own("inventory").get(ACCOUNT, {}).get(region, {}).get(kind, []))


def test_a_role_its_profile_and_its_policy_are_listed(client: Client, own: Callable[..., Any]) -> None:
    iam = client("iam")
    kinds = ("iam roles", "iam instance profiles", "iam policies")
    before = [listed(own, "aws", kind) for kind in kinds]
    trust = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    allow = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
    trusts, document = (json.dumps({"Version": "2012-10-17", "Statement": [each]}) for each in (trust, allow))
    iam.create_role(RoleName="listed", AssumeRolePolicyDocument=trusts)
    iam.create_instance_profile(InstanceProfileName="listed")
    arn = iam.create_policy(PolicyName="listed", PolicyDocument=document)["Policy"]["Arn"]
    assert listed(own, "aws", "iam policies") == [*before[2], arn]
    assert [len(listed(own, "aws", kind)) for kind in kinds] == [len(ids) + 1 for ids in before]
    iam.delete_policy(PolicyArn=arn)
    iam.delete_instance_profile(InstanceProfileName="listed")
    iam.delete_role(RoleName="listed")
    assert [listed(own, "aws", kind) for kind in kinds] == before


def test_policies_that_aws_itself_made_are_nobody_s_leftovers() -> None:
    arns = [f"arn:aws:iam::{owner}:policy/p" for owner in ("aws", ACCOUNT)]
    backend = SimpleNamespace(account_id=ACCOUNT, managed_policies=dict.fromkeys(arns))
    assert list(KINDS["iam"]["policies"](backend)) == arns[1:]


def test_access_points_vpn_gateways_parameters_and_reservations_are_listed(
    client: Client, own: Callable[..., Any]
) -> None:
    ec2, efs, ssm = (client(service, REGION) for service in ("ec2", "efs", "ssm"))
    system = efs.create_file_system(CreationToken="listed")["FileSystemId"]
    point = efs.create_access_point(ClientToken="listed", FileSystemId=system)["AccessPointId"]
    gateway = ec2.create_vpn_gateway(Type="ipsec.1")["VpnGateway"]["VpnGatewayId"]
    ssm.put_parameter(Name="/fleet/listed", Value="x", Type="String")
    ssm.get_parameters_by_path(Path="/aws/service/global-infrastructure/regions")
    subnet = ec2.describe_subnets()["Subnets"][0]
    cidr = subnet["CidrBlock"].partition("/")[0] + "/28"
    asked = {"SubnetId": subnet["SubnetId"], "Cidr": cidr, "ReservationType": "explicit"}
    made = ec2.create_subnet_cidr_reservation(**asked)["SubnetCidrReservation"]["SubnetCidrReservationId"]
    there = {
        "efs access points": [point],
        "ec2 vpn gateways": [gateway],
        "ssm parameters": ["/fleet/listed"],
        "ec2 subnet reservations": [made],
    }
    assert {kind: listed(own, REGION, kind) for kind in there} == there
    efs.delete_access_point(AccessPointId=point)
    efs.delete_file_system(FileSystemId=system)
    ec2.delete_vpn_gateway(VpnGatewayId=gateway)
    ssm.delete_parameter(Name="/fleet/listed")
    ec2.delete_subnet_cidr_reservation(SubnetCidrReservationId=made)
    assert {kind: listed(own, REGION, kind) for kind in there} == {kind: [] for kind in there}


def test_a_group_s_machines_are_listed_until_they_are_gone(client: Client, own: Callable[..., Any]) -> None:
    ec2, scaling = client("ec2", REGION), client("autoscaling", REGION)
    data = {"ImageId": image(ec2), "InstanceType": "t3.micro"}
    template = ec2.create_launch_template(LaunchTemplateName="listed", LaunchTemplateData=data)["LaunchTemplate"]
    interfaces = listed(own, REGION, "ec2 network interfaces")
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="listed",
        MinSize=2,
        MaxSize=2,
        VPCZoneIdentifier=ec2.describe_subnets()["Subnets"][0]["SubnetId"],
        LaunchTemplate={"LaunchTemplateId": template["LaunchTemplateId"]},
    )
    machines = [machine["InstanceId"] for machine in scaling.describe_auto_scaling_instances()["AutoScalingInstances"]]
    assert listed(own, REGION, "autoscaling instances") == sorted(machines)
    assert len(machines) == 2
    scaling.delete_auto_scaling_group(AutoScalingGroupName="listed", ForceDelete=True)
    assert listed(own, REGION, "autoscaling instances") == []
    assert listed(own, REGION, "ec2 network interfaces") == interfaces
