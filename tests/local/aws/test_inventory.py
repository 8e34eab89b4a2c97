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


def test_routes_and_rules_are_listed_until_they_are_gone(client: Client, own: Callable[..., Any]) -> None:
    ec2 = client("ec2", REGION)
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    group = ec2.create_security_group(GroupName="listed", Description="x", VpcId=vpc)["GroupId"]
    hub = ec2.create_transit_gateway()["TransitGateway"]["TransitGatewayId"]
    told = ec2.create_transit_gateway_route_table(TransitGatewayId=hub)["TransitGatewayRouteTable"]
    kinds = ("ec2 routes", "ec2 security group rules", "ec2 transit gateway routes")
    before = [listed(own, REGION, kind) for kind in kinds]
    route = {"RouteTableId": table, "DestinationCidrBlock": "10.10.0.0/16"}
    ec2.create_route(**route, GatewayId=gateway)
    rule = {"GroupId": group, "IpProtocol": "tcp", "FromPort": 1, "ToPort": 2, "CidrIp": "10.0.0.0/8"}
    made = ec2.authorize_security_group_ingress(**rule)["SecurityGroupRules"][0]["SecurityGroupRuleId"]
    of_hub = {"TransitGatewayRouteTableId": told["TransitGatewayRouteTableId"], "DestinationCidrBlock": "10.11.0.0/16"}
    ec2.create_transit_gateway_route(**of_hub, Blackhole=True)
    new = [f"{table} 10.10.0.0/16"], [made], [" ".join(of_hub.values())]
    assert [listed(own, REGION, kind) for kind in kinds] == [sorted((*a, *b)) for a, b in zip(before, new, strict=True)]
    ec2.delete_route(**route)
    ec2.revoke_security_group_ingress(GroupId=group, SecurityGroupRuleIds=[made])
    ec2.delete_transit_gateway_route(**of_hub)
    assert [listed(own, REGION, kind) for kind in kinds] == before


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


def test_what_the_cluster_s_stacks_make_is_listed_until_it_is_gone(client: Client, own: Callable[..., Any]) -> None:
    ec2, elb, s3, r53, iam = (client(name, REGION) for name in ("ec2", "elbv2", "s3", "route53", "iam"))
    subnet = ec2.describe_subnets()["Subnets"][0]
    network = {"Type": "network", "Subnets": [subnet["SubnetId"]]}
    balancer = elb.create_load_balancer(Name="listed", **network)["LoadBalancers"][0]["LoadBalancerArn"]
    asked = {"Protocol": "TCP", "Port": 1, "VpcId": subnet["VpcId"]}
    group = elb.create_target_group(Name="listed", **asked)["TargetGroups"][0]["TargetGroupArn"]
    ec2.create_placement_group(GroupName="listed", Strategy="spread")
    launch = {"ImageId": image(ec2), "InstanceType": "t3.micro", "MinCount": 1, "MaxCount": 1}
    machine = ec2.run_instances(**launch)["Instances"][0]["InstanceId"]
    s3.create_bucket(Bucket="listed", CreateBucketConfiguration={"LocationConstraint": REGION})
    s3.put_object(Bucket="listed", Key="a/b.json", Body=b"{}")
    zone = r53.create_hosted_zone(Name="listed.example.com", CallerReference="l")["HostedZone"]["Id"]
    record = {"Name": "a.listed.example.com", "Type": "A", "TTL": 1, "ResourceRecords": [{"Value": "10.0.0.1"}]}

    def change(action: str) -> None:
        batch = {"Changes": [{"Action": action, "ResourceRecordSet": record}]}
        r53.change_resource_record_sets(HostedZoneId=zone, ChangeBatch=batch)

    change("CREATE")
    url = {"Url": "https://listed.example.com/x", "ThumbprintList": ["0" * 40]}
    provider = iam.create_open_id_connect_provider(**url)["OpenIDConnectProviderArn"]
    there = {
        ("ec2 placement groups", REGION): ["listed"],
        ("ec2 instances", REGION): [machine],
        ("elbv2 load balancers", REGION): [balancer],
        ("elbv2 target groups", REGION): [group],
        ("s3 objects", "aws"): ["listed/a/b.json"],
        ("route53 records", "aws"): [f"{zone.rpartition('/')[2]} a.listed.example.com. A"],
        ("iam identity providers", "aws"): [provider],
    }
    assert {key: listed(own, key[1], key[0]) for key in there} == there
    change("DELETE")
    elb.delete_load_balancer(LoadBalancerArn=balancer)
    elb.delete_target_group(TargetGroupArn=group)
    ec2.delete_placement_group(GroupName="listed")
    ec2.terminate_instances(InstanceIds=[machine])
    s3.delete_object(Bucket="listed", Key="a/b.json")
    s3.delete_bucket(Bucket="listed")
    r53.delete_hosted_zone(Id=zone)
    iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=provider)
    assert {key: listed(own, key[1], key[0]) for key in there} == {key: [] for key in there}
