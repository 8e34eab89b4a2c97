"""What AWS refuses on the way down, and the local cloud as well: else a destroy that ends well here would say nothing of one there.

A row a rule: the code that AWS answers with, and where AWS tells of it. docs/guide/local-cloud.md has them as a table.
"""

import json
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

import boto3
import pytest
from botocore.config import Config

from local.environment import ACCESS_KEY
from tests.support.cloud import ROOT

from .support import refused

Client = Callable[..., Any]
REGION = "ap-southeast-1"
TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}],
    }
)
ALL = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]})


class World:
    """An account of its own, which may have five networks: each call makes a new one, with what a test needs in it."""

    def __init__(self, endpoint: str, account: str) -> None:
        keys = {"aws_access_key_id": ACCESS_KEY.format(account=account), "aws_secret_access_key": "local"}
        config = Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"})
        given: dict[str, Any] = {"endpoint_url": endpoint, "config": config, **keys}
        self.client: Client = lambda service: boto3.client(service, region_name=REGION, **given)
        self.ec2, self.iam = self.client("ec2"), self.client("iam")

    def name(self, what: str) -> str:
        return f"down-{what}-{uuid.uuid4().hex[:8]}"

    def network(self) -> str:
        return str(self.ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"])

    def subnet(self, network: str = "") -> str:
        made = self.ec2.create_subnet(
            VpcId=network or self.network(), CidrBlock="10.20.1.0/24", AvailabilityZone=f"{REGION}a"
        )
        return str(made["Subnet"]["SubnetId"])

    def gateway(self, network: str) -> str:
        made = str(self.ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"])
        self.ec2.attach_internet_gateway(InternetGatewayId=made, VpcId=network)
        return made

    def address(self) -> str:
        return str(self.ec2.allocate_address(Domain="vpc")["AllocationId"])

    def group(self, network: str) -> str:
        name = self.name("group")
        return str(self.ec2.create_security_group(GroupName=name, Description=name, VpcId=network)["GroupId"])

    def interface(self, subnet: str, *groups: str) -> str:
        made = self.ec2.create_network_interface(SubnetId=subnet, **({"Groups": list(groups)} if groups else {}))
        return str(made["NetworkInterface"]["NetworkInterfaceId"])

    def mapped(self) -> tuple[str, str, str]:
        """A network, its internet gateway, and a public address of an interface in it."""
        network, address = self.network(), self.address()
        gateway, interface = self.gateway(network), self.interface(self.subnet(network))
        self.ec2.associate_address(AllocationId=address, NetworkInterfaceId=interface)
        return network, gateway, address

    def role(self) -> str:
        name = self.name("role")
        self.iam.create_role(RoleName=name, AssumeRolePolicyDocument=TRUST)
        return name

    def profile(self, role: str) -> str:
        name = self.name("profile")
        self.iam.create_instance_profile(InstanceProfileName=name)
        self.iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=role)
        return name

    def policy(self) -> str:
        name = self.name("policy")
        return str(self.iam.create_policy(PolicyName=name, PolicyDocument=ALL)["Policy"]["Arn"])

    def hub(self) -> str:
        return str(self.ec2.create_transit_gateway()["TransitGateway"]["TransitGatewayId"])

    def connected(self) -> tuple[str, str]:
        """A hub and a customer gateway with a connection between them."""
        hub = self.hub()
        made = self.ec2.create_customer_gateway(BgpAsn=65010, IpAddress="192.0.2.10", Type="ipsec.1")
        gateway = str(made["CustomerGateway"]["CustomerGatewayId"])
        self.ec2.create_vpn_connection(Type="ipsec.1", CustomerGatewayId=gateway, TransitGatewayId=hub)
        return hub, gateway

    def share(self) -> str:
        efs = self.client("efs")
        id_ = str(efs.create_file_system(CreationToken=self.name("share"))["FileSystemId"])
        efs.create_mount_target(FileSystemId=id_, SubnetId=self.subnet())
        return id_

    def balancer(self) -> tuple[str, str]:
        """A balancer and the group of targets that its listener has."""
        elb, network = self.client("elbv2"), self.network()
        subnet = self.subnet(network)
        balancer = elb.create_load_balancer(Name=self.name("lb"), Subnets=[subnet], Type="network", Scheme="internal")
        targets = elb.create_target_group(Name=self.name("tg"), Protocol="TCP", Port=6443, VpcId=network)
        arns = balancer["LoadBalancers"][0]["LoadBalancerArn"], targets["TargetGroups"][0]["TargetGroupArn"]
        own = [{"Key": "preserve_client_ip.enabled", "Value": "false"}]
        elb.modify_target_group_attributes(TargetGroupArn=arns[1], Attributes=own)
        forward = [{"Type": "forward", "TargetGroupArn": arns[1]}]
        elb.create_listener(LoadBalancerArn=arns[0], Protocol="TCP", Port=6443, DefaultActions=forward)
        return arns

    def machine(self) -> tuple[str, str]:
        """A machine and a volume of its own."""
        image = self.ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
        made = self.ec2.run_instances(
            ImageId=image, MinCount=1, MaxCount=1, InstanceType="m7i.large", SubnetId=self.subnet()
        )
        instance = str(made["Instances"][0]["InstanceId"])
        zone = made["Instances"][0]["Placement"]["AvailabilityZone"]
        volume = str(self.ec2.create_volume(AvailabilityZone=zone, Size=1)["VolumeId"])
        self.ec2.attach_volume(InstanceId=instance, VolumeId=volume, Device="/dev/sdf")
        return instance, volume

    def zone(self) -> str:
        dns, name = self.client("route53"), f"{self.name('zone')}.example.com"
        of = {"VPCRegion": REGION, "VPCId": self.network()}
        made = dns.create_hosted_zone(Name=name, CallerReference=name, VPC=of)["HostedZone"]["Id"]
        record = {"Name": f"a.{name}", "Type": "A", "TTL": 60, "ResourceRecords": [{"Value": "10.20.1.9"}]}
        changes = {"Changes": [{"Action": "CREATE", "ResourceRecordSet": record}]}
        dns.change_resource_record_sets(HostedZoneId=made, ChangeBatch=changes)
        return str(made)

    def resolver(self) -> tuple[str, str]:
        """An endpoint of the resolver's with a rule that forwards by it, in a network."""
        resolver, network = self.client("route53resolver"), self.network()
        subnets = [self.subnet(network)]
        made = self.ec2.create_subnet(VpcId=network, CidrBlock="10.20.2.0/24", AvailabilityZone=f"{REGION}b")
        subnets.append(made["Subnet"]["SubnetId"])
        endpoint = resolver.create_resolver_endpoint(
            CreatorRequestId=self.name("endpoint"),
            Name=self.name("endpoint"),
            SecurityGroupIds=[self.group(network)],
            Direction="OUTBOUND",
            IpAddresses=[{"SubnetId": one} for one in subnets],
        )["ResolverEndpoint"]["Id"]
        rule = resolver.create_resolver_rule(
            CreatorRequestId=self.name("rule"),
            Name=self.name("rule"),
            RuleType="FORWARD",
            DomainName="lab.example.com",
            TargetIps=[{"Ip": "10.30.0.2", "Port": 53}],
            ResolverEndpointId=endpoint,
        )["ResolverRule"]["Id"]
        resolver.associate_resolver_rule(ResolverRuleId=rule, VPCId=network)
        return str(endpoint), str(rule)


def gateway_with_addresses(w: World) -> str:
    network, gateway, _ = w.mapped()
    return refused(w.ec2.detach_internet_gateway, InternetGatewayId=gateway, VpcId=network)


def attached_gateway(w: World) -> str:
    return refused(w.ec2.delete_internet_gateway, InternetGatewayId=w.gateway(w.network()))


def used_subnet(w: World) -> str:
    subnet = w.subnet()
    w.interface(subnet)
    return refused(w.ec2.delete_subnet, SubnetId=subnet)


def used_group(w: World) -> str:
    network = w.network()
    group = w.group(network)
    w.interface(w.subnet(network), group)
    return refused(w.ec2.delete_security_group, GroupId=group)


def named_group(w: World) -> str:
    network = w.network()
    one, other = w.group(network), w.group(network)
    pair = [{"IpProtocol": "tcp", "FromPort": 1, "ToPort": 2, "UserIdGroupPairs": [{"GroupId": one}]}]
    w.ec2.authorize_security_group_ingress(GroupId=other, IpPermissions=pair)
    return refused(w.ec2.delete_security_group, GroupId=one)


def used_address(w: World) -> str:
    *_, address = w.mapped()
    return refused(w.ec2.release_address, AllocationId=address)


def network_with_subnet(w: World) -> str:
    network = w.network()
    w.subnet(network)
    return refused(w.ec2.delete_vpc, VpcId=network)


def network_with_gateway(w: World) -> str:
    network = w.network()
    w.gateway(network)
    return refused(w.ec2.delete_vpc, VpcId=network)


def network_with_group(w: World) -> str:
    network = w.network()
    w.group(network)
    return refused(w.ec2.delete_vpc, VpcId=network)


def used_table(w: World) -> str:
    network = w.network()
    table = w.ec2.create_route_table(VpcId=network)["RouteTable"]["RouteTableId"]
    w.ec2.associate_route_table(RouteTableId=table, SubnetId=w.subnet(network))
    return refused(w.ec2.delete_route_table, RouteTableId=table)


def used_interface(w: World) -> str:
    instance, _ = w.machine()
    found = w.ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]
    return refused(
        w.ec2.delete_network_interface, NetworkInterfaceId=found["NetworkInterfaces"][0]["NetworkInterfaceId"]
    )


def used_volume(w: World) -> str:
    return refused(w.ec2.delete_volume, VolumeId=w.machine()[1])


def hub_with_connection(w: World) -> str:
    return refused(w.ec2.delete_transit_gateway, TransitGatewayId=w.connected()[0])


def used_customer_gateway(w: World) -> str:
    return refused(w.ec2.delete_customer_gateway, CustomerGatewayId=w.connected()[1])


def hub_with_network(w: World) -> str:
    hub, network = w.hub(), w.network()
    w.ec2.create_transit_gateway_vpc_attachment(TransitGatewayId=hub, VpcId=network, SubnetIds=[w.subnet(network)])
    return refused(w.ec2.delete_transit_gateway, TransitGatewayId=hub)


def role_in_profile(w: World) -> str:
    role = w.role()
    w.profile(role)
    return refused(w.iam.delete_role, RoleName=role)


def role_with_policy(w: World) -> str:
    role = w.role()
    w.iam.attach_role_policy(RoleName=role, PolicyArn=w.policy())
    return refused(w.iam.delete_role, RoleName=role)


def role_with_own_policy(w: World) -> str:
    role = w.role()
    w.iam.put_role_policy(RoleName=role, PolicyName="own", PolicyDocument=ALL)
    return refused(w.iam.delete_role, RoleName=role)


def profile_with_role(w: World) -> str:
    return refused(w.iam.delete_instance_profile, InstanceProfileName=w.profile(w.role()))


def used_policy(w: World) -> str:
    policy = w.policy()
    w.iam.attach_role_policy(RoleName=w.role(), PolicyArn=policy)
    return refused(w.iam.delete_policy, PolicyArn=policy)


def bucket_with_objects(w: World) -> str:
    s3, name = w.client("s3"), w.name("bucket")
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    s3.put_object(Bucket=name, Key="one", Body=b"1")
    return refused(s3.delete_bucket, Bucket=name)


def bucket_with_versions(w: World) -> str:
    s3, name = w.client("s3"), w.name("bucket")
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    s3.put_object(Bucket=name, Key="one", Body=b"1")
    s3.delete_object(Bucket=name, Key="one")
    return refused(s3.delete_bucket, Bucket=name)


def mounted_share(w: World) -> str:
    return refused(w.client("efs").delete_file_system, FileSystemId=w.share())


def used_targets(w: World) -> str:
    return refused(w.client("elbv2").delete_target_group, TargetGroupArn=w.balancer()[1])


def protected_balancer(w: World) -> str:
    elb, (balancer, _) = w.client("elbv2"), w.balancer()
    on = [{"Key": "deletion_protection.enabled", "Value": "true"}]
    elb.modify_load_balancer_attributes(LoadBalancerArn=balancer, Attributes=on)
    return refused(elb.delete_load_balancer, LoadBalancerArn=balancer)


def zone_with_records(w: World) -> str:
    return refused(w.client("route53").delete_hosted_zone, Id=w.zone())


def rule_in_network(w: World) -> str:
    return refused(w.client("route53resolver").delete_resolver_rule, ResolverRuleId=w.resolver()[1])


def endpoint_with_rule(w: World) -> str:
    return refused(w.client("route53resolver").delete_resolver_endpoint, ResolverEndpointId=w.resolver()[0])


def name_of_deleted_secret(w: World) -> str:
    secrets, name = w.client("secretsmanager"), w.name("secret")
    secrets.create_secret(Name=name, SecretString="x")
    secrets.delete_secret(SecretId=name, RecoveryWindowInDays=7)
    return refused(secrets.create_secret, Name=name, SecretString="y")


class Rule(NamedTuple):
    """`source` is an operation of AWS's API reference, with the service where it is not EC2."""

    refusal: Callable[[World], str]
    code: str
    source: str


RULES = {
    "an internet gateway with mapped addresses": Rule(
        gateway_with_addresses, "DependencyViolation", "DetachInternetGateway"
    ),
    "an attached internet gateway": Rule(attached_gateway, "DependencyViolation", "DeleteInternetGateway"),
    "a subnet with an interface": Rule(used_subnet, "DependencyViolation", "DeleteSubnet"),
    "a security group of an interface": Rule(used_group, "DependencyViolation", "DeleteSecurityGroup"),
    "a security group in another's rule": Rule(named_group, "DependencyViolation", "DeleteSecurityGroup"),
    "an associated public address": Rule(used_address, "InvalidIPAddress.InUse", "ReleaseAddress"),
    "a network with a subnet": Rule(network_with_subnet, "DependencyViolation", "DeleteVpc"),
    "a network with an internet gateway": Rule(network_with_gateway, "DependencyViolation", "DeleteVpc"),
    "a network with a security group": Rule(network_with_group, "DependencyViolation", "DeleteVpc"),
    "an associated route table": Rule(used_table, "DependencyViolation", "DeleteRouteTable"),
    "a machine's interface": Rule(used_interface, "InvalidNetworkInterface.InUse", "DeleteNetworkInterface"),
    "a machine's volume": Rule(used_volume, "VolumeInUse", "DeleteVolume"),
    "a hub with a connection": Rule(hub_with_connection, "IncorrectState", "DeleteTransitGateway"),
    "a hub with a network": Rule(hub_with_network, "IncorrectState", "DeleteTransitGateway"),
    "a customer gateway with a connection": Rule(used_customer_gateway, "IncorrectState", "DeleteCustomerGateway"),
    "a role in an instance profile": Rule(role_in_profile, "DeleteConflict", "IAM DeleteRole"),
    "a role with an attached policy": Rule(role_with_policy, "DeleteConflict", "IAM DeleteRole"),
    "a role with a policy of its own": Rule(role_with_own_policy, "DeleteConflict", "IAM DeleteRole"),
    "an instance profile with a role": Rule(profile_with_role, "DeleteConflict", "IAM DeleteInstanceProfile"),
    "an attached policy": Rule(used_policy, "DeleteConflict", "IAM DeletePolicy"),
    "a bucket with objects": Rule(bucket_with_objects, "BucketNotEmpty", "S3 DeleteBucket"),
    "a bucket with old versions": Rule(bucket_with_versions, "BucketNotEmpty", "S3 DeleteBucket"),
    "a mounted file system": Rule(mounted_share, "FileSystemInUse", "EFS DeleteFileSystem"),
    "a listener's target group": Rule(used_targets, "ResourceInUse", "ELBv2 DeleteTargetGroup"),
    "a protected balancer": Rule(protected_balancer, "OperationNotPermitted", "ELBv2 DeleteLoadBalancer"),
    "a zone with records": Rule(zone_with_records, "HostedZoneNotEmpty", "Route 53 DeleteHostedZone"),
    "a resolver's rule in a network": Rule(
        rule_in_network, "ResourceInUseException", "Route 53 Resolver DeleteResolverRule"
    ),
    "a resolver's endpoint with a rule": Rule(
        endpoint_with_rule, "InvalidRequestException", "Route 53 Resolver DeleteResolverEndpoint"
    ),
    "the name of a secret that is being deleted": Rule(
        name_of_deleted_secret, "InvalidRequestException", "Secrets Manager CreateSecret"
    ),
}


@pytest.mark.parametrize("what", RULES)
def test_it_is_refused(endpoint: str, what: str) -> None:
    rule, number = RULES[what], list(RULES).index(what)
    assert rule.refusal(World(endpoint, f"{200_000_000_000 + number}")) == rule.code


def test_the_guide_has_them_all() -> None:
    told = (ROOT / "docs/guide/local-cloud.md").read_text()
    assert not [what for what, one in RULES.items() if f"| {what} | `{one.code}` | {one.source} |" not in told]
