"""A local AWS over a folder, and a fleet in it."""

import base64
import json
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from local.providers.host import free_port

from ..support import Fleet, Server, running

REGIONS = ("us-west-2", "eu-west-1")
TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}],
    }
)
READS = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:Get*", "Resource": "*"}]})


class Aws(Server):
    def client(self, service: str, region: str = REGIONS[0], **more: Any) -> Any:
        config = Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"})
        keys = {"aws_access_key_id": "local", "aws_secret_access_key": "local", **more}
        return boto3.client(service, region_name=region, endpoint_url=self.url, config=config, **keys)

    def own(self, name: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f"{self.url}/landbridge-api/{name}", data) as answer:
            return json.loads(answer.read())

    def fleet(self) -> "AwsFleet":
        _fleet(self)
        return AwsFleet(self)

    def making(self) -> Callable[[int, int], str]:
        queues = [self.client("sqs", region) for region in REGIONS]
        return lambda number, turn: str(queues[number % 2].create_queue(QueueName=f"q-{number}-{turn}")["QueueUrl"])

    def made(self) -> list[str]:
        return [url for region in REGIONS for url in self.client("sqs", region).list_queues().get("QueueUrls", ())]


def served(folder: Path) -> Iterator[Aws]:
    port = free_port()
    words = [
        "local.aws.server",
        "--port",
        str(port),
        "--home",
        str(folder / "home"),
        "--tls",
        f"127.0.0.1:{free_port()}",
    ]
    with running(Aws(words, f"http://127.0.0.1:{port}", folder / "log")) as server:
        yield server


class AwsFleet(Fleet):
    def __init__(self, aws: Aws) -> None:
        self.aws, self.ahead = aws, aws.own("clock")
        image = aws.client("ec2").describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
        profile = {"IamInstanceProfile": {"Name": "node"}}
        made = aws.client("ec2").run_instances(ImageId=image, MinCount=1, MaxCount=1, **profile)
        self.profiled = made["Instances"][0]["InstanceId"]
        self.given = aws.own("credentials", self.profiled)

    def seen(self) -> Any:
        return _seen(self.aws)

    def holds(self) -> None:
        assert self.aws.own("clock") >= self.ahead

    def goes_on(self) -> None:
        keys = {"aws_access_key_id": self.given["AccessKeyId"], "aws_secret_access_key": self.given["SecretAccessKey"]}
        whose = self.aws.client("sts", aws_session_token=self.given["Token"], **keys).get_caller_identity()["Arn"]
        assert whose.endswith(f"assumed-role/node/{self.profiled}")
        # What waited for its machine ends when that has.
        _, second, *_ = _instances(self.aws)
        assert self.aws.own("ended", second)
        _peer(self.aws)


def _network(aws: Aws, region: str) -> str:
    """Of each kind of a region's network that a fleet has one; a subnet's id."""
    ec2 = aws.client("ec2", region)
    vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.1.1.0/24", AvailabilityZone=f"{region}a")["Subnet"]["SubnetId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
    ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)
    group = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
    world = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[world])
    hub = ec2.create_transit_gateway(Description="hub")["TransitGateway"]["TransitGatewayId"]
    ec2.create_transit_gateway_vpc_attachment(TransitGatewayId=hub, VpcId=vpc, SubnetIds=[subnet])
    end = ec2.create_customer_gateway(Type="ipsec.1", IpAddress="192.0.2.1", BgpAsn=65010)["CustomerGateway"]
    ec2.create_vpn_connection(CustomerGatewayId=end["CustomerGatewayId"], Type="ipsec.1", TransitGatewayId=hub)
    return str(subnet)


def _fleet(aws: Aws) -> None:
    """Of each kind that the example fleet has one, in two regions; and what is beside moto's."""
    subnets = {region: _network(aws, region) for region in REGIONS}
    iam = aws.client("iam")
    iam.create_role(RoleName="node", AssumeRolePolicyDocument=TRUST)
    iam.put_role_policy(RoleName="node", PolicyName="own", PolicyDocument=READS)
    iam.create_instance_profile(InstanceProfileName="node")
    iam.add_role_to_instance_profile(InstanceProfileName="node", RoleName="node")
    for region, subnet in subnets.items():
        ec2 = aws.client("ec2", region)
        image = ec2.describe_images(Filters=[{"Name": "name", "Values": ["landbridge-local-cpu-*"]}])["Images"][0]
        script = base64.b64encode(b"#!/bin/sh\n").decode()
        data = {"ImageId": image["ImageId"], "InstanceType": "m5.large", "UserData": script}
        ec2.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData=data)
        scaling = aws.client("autoscaling", region)
        scaling.create_auto_scaling_group(
            AutoScalingGroupName="nodes",
            LaunchTemplate={"LaunchTemplateName": "nodes", "Version": "$Latest"},
            MinSize=0,
            MaxSize=4,
            DesiredCapacity=2,
            VPCZoneIdentifier=subnet,
        )
        hook = {"LifecycleHookName": "drain", "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING"}
        scaling.put_lifecycle_hook(AutoScalingGroupName="nodes", HeartbeatTimeout=300, **hook)
        balancing = aws.client("elbv2", region)
        balancer = balancing.create_load_balancer(Name="api", Subnets=[subnet], Type="network", Scheme="internal")
        where = {"VpcId": ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["VpcId"]}
        targets = balancing.create_target_group(Name="api", Protocol="TCP", Port=6443, **where)["TargetGroups"][0]
        balancing.modify_target_group_attributes(
            TargetGroupArn=targets["TargetGroupArn"],
            Attributes=[{"Key": "preserve_client_ip.enabled", "Value": "false"}],
        )
        balancing.create_listener(
            LoadBalancerArn=balancer["LoadBalancers"][0]["LoadBalancerArn"],
            Protocol="TCP",
            Port=6443,
            DefaultActions=[{"Type": "forward", "TargetGroupArn": targets["TargetGroupArn"]}],
        )
        ec2.create_volume(AvailabilityZone=f"{region}a", Size=8)
        aws.client("ssm", region).put_parameter(Name="/fleet/secret", Value="hush", Type="SecureString")
        aws.client("sqs", region).create_queue(QueueName="events")
        aws.client("efs", region).create_file_system(CreationToken="shared")
        aws.client("route53resolver", region).list_resolver_rules()
    s3 = aws.client("s3")
    s3.create_bucket(Bucket="state", CreateBucketConfiguration={"LocationConstraint": REGIONS[0]})
    s3.put_bucket_versioning(Bucket="state", VersioningConfiguration={"Status": "Enabled"})
    for body in (b"small", b"large" * 100_000):
        s3.put_object(Bucket="state", Key=f"{len(body)}/state", Body=body)
    zone = aws.client("route53").create_hosted_zone(Name="example.internal", CallerReference="one")["HostedZone"]["Id"]
    record = {"Name": "api.example.internal", "Type": "A", "TTL": 60, "ResourceRecords": [{"Value": "10.1.1.9"}]}
    changes = {"Changes": [{"Action": "CREATE", "ResourceRecordSet": record}]}
    aws.client("route53").change_resource_record_sets(HostedZoneId=zone, ChangeBatch=changes)
    aws.client("kms").create_key(Description="volumes")
    aws.own("keep", {})
    aws.own("faults", [{"kind": "outage", "region": "ap-south-1"}])
    aws.own("clock", {"advance": 60})
    # One waits for its hook, one for its machine.
    first, second = _instances(aws)
    scaling = aws.client("autoscaling")
    scaling.terminate_instance_in_auto_scaling_group(InstanceId=first, ShouldDecrementDesiredCapacity=True)
    aws.client("ec2").terminate_instances(InstanceIds=[second])
    aws.own("ill", [second, "it fell"])


def _instances(aws: Aws) -> list[str]:
    found = aws.client("ec2").describe_instances()["Reservations"]
    return [one["InstanceId"] for reservation in found for one in reservation["Instances"]]


def _peer(aws: Aws) -> None:
    """Regions find each other."""
    near, far = (aws.client("ec2", region) for region in REGIONS)
    hubs = [one.describe_transit_gateways()["TransitGateways"][0] for one in (near, far)]
    made = near.create_transit_gateway_peering_attachment(
        TransitGatewayId=hubs[0]["TransitGatewayId"],
        PeerTransitGatewayId=hubs[1]["TransitGatewayId"],
        PeerAccountId=hubs[1]["OwnerId"],
        PeerRegion=REGIONS[1],
    )["TransitGatewayPeeringAttachment"]["TransitGatewayAttachmentId"]
    far.accept_transit_gateway_peering_attachment(TransitGatewayAttachmentId=made)


LOOKS = (
    ("ec2", "describe_instances"),
    ("ec2", "describe_vpcs"),
    ("ec2", "describe_subnets"),
    ("ec2", "describe_route_tables"),
    ("ec2", "describe_security_group_rules"),
    ("ec2", "describe_transit_gateway_attachments"),
    ("ec2", "describe_vpn_connections"),
    ("ec2", "describe_volumes"),
    ("ec2", "describe_network_interfaces"),
    ("ec2", "describe_launch_template_versions"),
    ("autoscaling", "describe_auto_scaling_groups"),
    ("autoscaling", "describe_scaling_activities"),
    ("autoscaling", "describe_auto_scaling_instances"),
    ("elbv2", "describe_load_balancers"),
    ("elbv2", "describe_target_groups"),
    ("iam", "list_roles"),
    ("iam", "list_instance_profiles"),
    ("kms", "list_keys"),
    ("ssm", "describe_parameters"),
    ("sqs", "list_queues"),
    ("efs", "describe_file_systems"),
    ("route53", "list_hosted_zones"),
    ("s3", "list_buckets"),
)


def _seen(aws: Aws) -> dict[str, Any]:
    """All that somebody who asks sees, but for the numbers of the questions."""
    found: dict[str, Any] = {name: aws.own(name) for name in ("inventory", "world", "faults", "quotas")}
    for region in REGIONS:
        for service, look in LOOKS:
            more = {"LaunchTemplateName": "nodes"} if "launch_template" in look else {}
            told = getattr(aws.client(service, region), look)(**more)
            del told["ResponseMetadata"]
            for one in told.get("FileSystems", ()):
                del one["SizeInBytes"]  # it says when it was asked for
            found[f"{region} {look}"] = told
        parameter = aws.client("ssm", region).get_parameter(Name="/fleet/secret", WithDecryption=True)["Parameter"]
        found[f"{region} secret"] = parameter
    s3 = aws.client("s3")
    found["versions"] = s3.list_object_versions(Bucket="state")["Versions"]
    found["bodies"] = [s3.get_object(Bucket="state", Key=one["Key"])["Body"].read() for one in found["versions"]]
    return found
