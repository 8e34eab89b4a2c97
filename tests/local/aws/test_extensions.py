"""The local AWS behaves as AWS documents where Landbridge depends on it: real boto3 against the real server."""

import base64
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from .support import image, refused

Client = Callable[..., Any]


def test_an_unknown_call_is_an_error_that_names_it(client: Client) -> None:
    with pytest.raises(ClientError, match="The local cloud does not have ec2 ExportTransitGatewayRoutes") as caught:
        client("ec2").export_transit_gateway_routes(TransitGatewayRouteTableId="tgw-rtb-1", S3Bucket="b")
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_vpcs_are_limited_to_five_a_region(client: Client) -> None:
    ec2 = client("ec2", "eu-west-3")
    for n in range(5 - len(ec2.describe_vpcs()["Vpcs"])):
        ec2.create_vpc(CidrBlock=f"10.{n}.0.0/16")
    assert refused(ec2.create_vpc, CidrBlock="10.9.0.0/16") == "VpcLimitExceeded"


def test_addresses_are_limited_to_five_a_region(client: Client) -> None:
    ec2 = client("ec2", "eu-west-3")
    for _ in range(5):
        ec2.allocate_address(Domain="vpc")
    assert refused(ec2.allocate_address, Domain="vpc") == "AddressLimitExceeded"


def test_user_data_ends_at_16_kb_raw(client: Client) -> None:
    ec2 = client("ec2")
    most = base64.b64encode(b"x" * 16_384).decode()
    more = base64.b64encode(b"x" * 16_385).decode()
    ec2.create_launch_template(LaunchTemplateName="fits", LaunchTemplateData={"UserData": most})
    over = {"LaunchTemplateName": "over", "LaunchTemplateData": {"UserData": more}}
    assert refused(ec2.create_launch_template, **over) == "InvalidParameterValue"
    again = {"LaunchTemplateName": "fits", "LaunchTemplateData": {"UserData": more}}
    assert refused(ec2.create_launch_template_version, **again) == "InvalidParameterValue"
    machine_image = image(ec2)
    machine = {"ImageId": machine_image, "MinCount": 1, "MaxCount": 1, "InstanceType": "t3.micro"}
    assert refused(ec2.run_instances, **machine, UserData="x" * 16_385) == "InvalidParameterValue"


def test_an_unknown_image_or_type_starts_nothing(client: Client) -> None:
    ec2 = client("ec2")
    machine_image = image(ec2)
    assert (
        refused(ec2.run_instances, ImageId="ami-0123456789abcdef0", MinCount=1, MaxCount=1) == "InvalidAMIID.NotFound"
    )
    machine = {"ImageId": machine_image, "MinCount": 1, "MaxCount": 1}
    assert refused(ec2.run_instances, **machine, InstanceType="p5.49xlarge") == "InvalidParameterValue"


def test_a_secret_ends_at_64_kb_and_its_name_is_taken_until_it_is_gone(client: Client) -> None:
    secrets = client("secretsmanager")
    secrets.create_secret(Name="fits", SecretString="x" * 65_536)
    assert refused(secrets.create_secret, Name="over", SecretString="x" * 65_537) == "ValidationException"
    assert refused(secrets.update_secret, SecretId="fits", SecretString="x" * 65_537) == "ValidationException"
    secrets.put_secret_value(SecretId="fits", SecretBinary=b"x" * 65_536)
    assert refused(secrets.put_secret_value, SecretId="fits", SecretBinary=b"x" * 65_537) == "ValidationException"
    secrets.put_secret_value(SecretId="fits", SecretString="x" * 65_536)
    secrets.delete_secret(SecretId="fits", RecoveryWindowInDays=7)
    assert refused(secrets.create_secret, Name="fits", SecretString="again") == "InvalidRequestException"
    secrets.restore_secret(SecretId="fits")
    assert len(secrets.get_secret_value(SecretId="fits")["SecretString"]) == 65_536


def test_a_subnet_in_use_can_t_be_deleted_and_a_nat_gateway_leaves_nothing(client: Client) -> None:
    ec2 = client("ec2", "ca-central-1")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    gateway = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)["NatGateway"]["NatGatewayId"]
    assert refused(ec2.delete_subnet, SubnetId=subnet) == "DependencyViolation"
    ec2.delete_nat_gateway(NatGatewayId=gateway)
    assert (
        ec2.describe_network_interfaces(Filters=[{"Name": "subnet-id", "Values": [subnet]}])["NetworkInterfaces"] == []
    )
    ec2.release_address(AllocationId=address)
    ec2.delete_subnet(SubnetId=subnet)


def test_a_file_system_s_backups_and_policy_and_throughput(client: Client) -> None:
    efs = client("efs")
    system = efs.create_file_system(CreationToken="t", Encrypted=True)["FileSystemId"]
    efs.put_backup_policy(FileSystemId=system, BackupPolicy={"Status": "ENABLED"})
    assert efs.describe_backup_policy(FileSystemId=system)["BackupPolicy"]["Status"] == "ENABLED"
    efs.put_file_system_policy(FileSystemId=system, Policy='{"Version": "2012-10-17", "Statement": []}')
    efs.delete_file_system_policy(FileSystemId=system)
    assert refused(efs.describe_file_system_policy, FileSystemId=system) == "PolicyNotFound"
    efs.update_file_system(FileSystemId=system, ThroughputMode="provisioned", ProvisionedThroughputInMibps=64)
    efs.update_file_system(FileSystemId=system, ThroughputMode="elastic")
    (told,) = efs.describe_file_systems(FileSystemId=system)["FileSystems"]
    assert told["ThroughputMode"] == "elastic"
    assert "ProvisionedThroughputInMibps" not in told, "a figure of provisioned ones alone"
    assert (
        refused(efs.put_backup_policy, FileSystemId="fs-00000000", BackupPolicy={"Status": "ENABLED"})
        == "FileSystemNotFound"
    )


def test_a_flow_log_may_go_to_a_folder_of_a_bucket_that_exists(client: Client) -> None:
    ec2, s3 = client("ec2", "us-east-2"), client("s3", "us-east-1")
    vpc = ec2.describe_vpcs()["Vpcs"][0]["VpcId"]
    s3.create_bucket(Bucket="logs")
    common = {"ResourceIds": [vpc], "ResourceType": "VPC", "TrafficType": "ALL", "LogDestinationType": "s3"}
    made = ec2.create_flow_logs(**common, LogDestination="arn:aws:s3:::logs/flow/")
    assert made["Unsuccessful"] == []
    assert ec2.describe_flow_logs()["FlowLogs"][0]["LogDestination"] == "arn:aws:s3:::logs/flow/"
    assert ec2.create_flow_logs(**common, LogDestination="arn:aws:s3:::nowhere/flow/")["Unsuccessful"] != []
