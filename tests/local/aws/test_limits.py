"""AWS's default quotas and sizes bite, with the codes that AWS documents."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from .support import image, refused

Client = Callable[..., Any]
REGION = "eu-central-1"


@pytest.fixture(scope="module")
def ec2(client: Client) -> Any:
    return client("ec2", REGION)


@pytest.fixture(scope="module")
def vpc(ec2: Any) -> str:
    return str(ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"])


@pytest.fixture
def granted(own: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Sets quotas, for one test: those whose defaults are too many to reach here."""
    yield lambda **quotas: own("quotas", {what.replace("_", " "): most for what, most in quotas.items()})
    own("quotas", {})


def test_the_defaults_are_those_that_aws_documents(own: Callable[..., Any]) -> None:
    defaults = {
        "VPCs": 5,
        "subnets in a VPC": 200,
        "route tables in a VPC": 200,
        "routes in a route table": 500,
        "security groups on a network interface": 5,
        "interface endpoints in a VPC": 50,
        "gateway endpoints": 20,
        "VPN connections": 50,
        "customer gateways": 50,
        "virtual private gateways": 5,
        "attachments to a transit gateway": 5_000,
        "buckets": 10_000,
        "access points of a file system": 10_000,
        "mount targets in a VPC": 1_400,
    }
    assert own("quotas").items() >= defaults.items()


def test_a_vpc_has_200_subnets(ec2: Any, vpc: str) -> None:
    for n in range(200):
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{n // 16}.{n % 16 * 16}/28")
    assert refused(ec2.create_subnet, VpcId=vpc, CidrBlock="10.0.200.0/28") == "SubnetLimitExceeded"
    other = ec2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"][0]
    first = other["CidrBlock"].split(".")
    ec2.create_subnet(VpcId=other["VpcId"], CidrBlock=f"{first[0]}.{first[1]}.255.0/28")


def test_a_vpc_has_200_route_tables_with_its_main_one(ec2: Any, vpc: str) -> None:
    for _ in range(199):
        ec2.create_route_table(VpcId=vpc)
    assert refused(ec2.create_route_table, VpcId=vpc) == "RouteTableLimitExceeded"


def test_a_route_table_has_500_routes_beside_the_local_one(ec2: Any, vpc: str) -> None:
    main = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"][0]["RouteTableId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    route = {"RouteTableId": main, "GatewayId": gateway}
    for n in range(500):
        ec2.create_route(**route, DestinationCidrBlock=f"11.{n // 256}.{n % 256}.0/24")
    assert refused(ec2.create_route, **route, DestinationCidrBlock="12.0.0.0/24") == "RouteLimitExceeded"
    ec2.create_route(**route, DestinationIpv6CidrBlock="2001:db8::/32")


def test_a_security_group_has_60_rules_each_way(ec2: Any, vpc: str) -> None:
    group = ec2.create_security_group(GroupName="many", Description="many", VpcId=vpc)["GroupId"]

    def rules(first: int, number: int) -> dict[str, Any]:
        ranges = [{"CidrIp": f"10.1.{n}.0/24"} for n in range(first, first + number)]
        return {"GroupId": group, "IpPermissions": [{"IpProtocol": "-1", "IpRanges": ranges}]}

    ec2.authorize_security_group_ingress(**rules(0, 60))
    assert refused(ec2.authorize_security_group_ingress, **rules(60, 1)) == "RulesPerSecurityGroupLimitExceeded"
    ec2.authorize_security_group_egress(**rules(0, 59))  # with the rule that every group starts with


def test_an_interface_has_five_security_groups(ec2: Any, vpc: str) -> None:
    groups = [ec2.create_security_group(GroupName=f"g{n}", Description="g", VpcId=vpc)["GroupId"] for n in range(6)]
    subnet = ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["Subnets"][0]["SubnetId"]
    interface = ec2.create_network_interface(SubnetId=subnet, Groups=groups[:5])["NetworkInterface"][
        "NetworkInterfaceId"
    ]
    code = "SecurityGroupsPerInterfaceLimitExceeded"
    assert refused(ec2.create_network_interface, SubnetId=subnet, Groups=groups) == code
    assert refused(ec2.modify_network_interface_attribute, NetworkInterfaceId=interface, Groups=groups) == code
    machine_image = image(ec2)
    machine = {"ImageId": machine_image, "InstanceType": "t3.micro", "MinCount": 1, "MaxCount": 1, "SubnetId": subnet}
    assert refused(ec2.run_instances, **machine, SecurityGroupIds=groups) == code
    assert ec2.describe_instances(Filters=[{"Name": "subnet-id", "Values": [subnet]}])["Reservations"] == []


def test_a_vpc_has_50_interface_endpoints(ec2: Any, vpc: str) -> None:
    endpoint = {"VpcId": vpc, "VpcEndpointType": "Interface", "ServiceName": f"com.amazonaws.{REGION}.ec2"}
    made = [ec2.create_vpc_endpoint(**endpoint)["VpcEndpoint"]["VpcEndpointId"] for _ in range(50)]
    assert refused(ec2.create_vpc_endpoint, **endpoint) == "VpcEndpointLimitExceeded"
    ec2.create_vpc_endpoint(**{**endpoint, "VpcEndpointType": "Gateway", "ServiceName": f"com.amazonaws.{REGION}.s3"})
    ec2.delete_vpc_endpoints(VpcEndpointIds=made[:1])
    ec2.create_vpc_endpoint(**endpoint)


def test_a_region_has_50_customer_gateways_and_50_vpn_connections(ec2: Any) -> None:
    hub = ec2.create_transit_gateway()["TransitGateway"]["TransitGatewayId"]
    ids = []
    for n in range(50):
        made = ec2.create_customer_gateway(BgpAsn=65_000, PublicIp=f"192.0.2.{n}", Type="ipsec.1")
        ids.append(made["CustomerGateway"]["CustomerGatewayId"])
        ec2.create_vpn_connection(Type="ipsec.1", CustomerGatewayId=ids[-1], TransitGatewayId=hub)
    over = {"BgpAsn": 65_000, "PublicIp": "192.0.2.99", "Type": "ipsec.1"}
    assert refused(ec2.create_customer_gateway, **over) == "CustomerGatewayLimitExceeded"
    connection = {"Type": "ipsec.1", "CustomerGatewayId": ids[0], "TransitGatewayId": hub}
    assert refused(ec2.create_vpn_connection, **connection) == "VpnConnectionLimitExceeded"
    gone = ec2.describe_vpn_connections()["VpnConnections"][0]["VpnConnectionId"]
    ec2.delete_vpn_connection(VpnConnectionId=gone)
    ec2.create_vpn_connection(**connection)


def test_a_hub_s_attachments_are_counted_by_hub(ec2: Any, vpc: str, granted: Callable[..., Any]) -> None:
    hubs = [ec2.create_transit_gateway()["TransitGateway"]["TransitGatewayId"] for _ in range(2)]
    others = [v["VpcId"] for v in ec2.describe_vpcs()["Vpcs"] if v["VpcId"] != vpc]
    subnets = {
        name: ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [name]}])["Subnets"][0]["SubnetId"]
        for name in (vpc, others[0])
    }
    granted(attachments_to_a_transit_gateway=1)
    attach = ec2.create_transit_gateway_vpc_attachment
    attach(TransitGatewayId=hubs[0], VpcId=vpc, SubnetIds=[subnets[vpc]])
    over = {"TransitGatewayId": hubs[0], "VpcId": others[0], "SubnetIds": [subnets[others[0]]]}
    assert refused(attach, **over) == "ResourceLimitExceeded"
    attach(**{**over, "TransitGatewayId": hubs[1]})


def test_an_account_s_buckets_are_counted(client: Client, granted: Callable[..., Any]) -> None:
    s3 = client("s3", "us-east-1")
    granted(buckets=len(s3.list_buckets()["Buckets"]) + 1)
    s3.create_bucket(Bucket="last-one")
    assert refused(s3.create_bucket, Bucket="one-too-many") == "TooManyBuckets"
    s3.delete_bucket(Bucket="last-one")


def test_access_points_and_mount_targets_are_counted(
    client: Client, ec2: Any, vpc: str, granted: Callable[..., Any]
) -> None:
    efs = client("efs", REGION)
    systems = [efs.create_file_system(CreationToken=f"f{n}")["FileSystemId"] for n in range(2)]
    subnet = ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["Subnets"][0]["SubnetId"]
    granted(access_points_of_a_file_system=1, mount_targets_in_a_VPC=1)
    efs.create_access_point(ClientToken="a", FileSystemId=systems[0])
    assert refused(efs.create_access_point, ClientToken="b", FileSystemId=systems[0]) == "AccessPointLimitExceeded"
    efs.create_access_point(ClientToken="c", FileSystemId=systems[1])
    efs.create_mount_target(FileSystemId=systems[0], SubnetId=subnet)
    over = {"FileSystemId": systems[1], "SubnetId": subnet}
    assert refused(efs.create_mount_target, **over) == "NetworkInterfaceLimitExceeded"


def test_a_quota_that_is_not_there_is_not_set(own: Callable[..., Any]) -> None:
    with pytest.raises(OSError, match="400"):
        own("quotas", {"moons": 1})


def test_a_parameter_ends_at_4_kb_and_an_advanced_one_at_8(client: Client) -> None:
    ssm = client("ssm", REGION)
    put = {"Type": "String", "Overwrite": True}
    ssm.put_parameter(Name="standard", Value="x" * 4_096, **put)
    with pytest.raises(ClientError, match=r"ValidationException.* Standard tier .* 4096"):
        ssm.put_parameter(Name="standard", Value="x" * 4_097, **put)
    assert refused(ssm.put_parameter, Name="wide", Value="é" * 2_049, **put) == "ValidationException", "bytes count"
    ssm.put_parameter(Name="advanced", Value="x" * 8_192, Tier="Advanced", **put)
    over = {"Name": "advanced", "Value": "x" * 8_193, "Tier": "Advanced"}
    assert refused(ssm.put_parameter, **over, **put) == "ValidationException"
    assert ssm.put_parameter(Name="advanced", Value="y" * 5_000, **put)["Tier"] == "Advanced"
    back = {"Name": "advanced", "Value": "y", "Tier": "Standard"}
    assert refused(ssm.put_parameter, **back, **put) == "ValidationException"


def test_intelligent_tiering_takes_the_tier_that_fits(client: Client) -> None:
    ssm = client("ssm", REGION)
    put = {"Name": "grows", "Type": "String", "Overwrite": True, "Tier": "Intelligent-Tiering"}
    assert ssm.put_parameter(Value="x" * 4_096, **put)["Tier"] == "Standard"
    assert ssm.put_parameter(Value="x" * 4_097, **put)["Tier"] == "Advanced"
    assert refused(ssm.put_parameter, Value="x" * 8_193, **put) == "ValidationException"
