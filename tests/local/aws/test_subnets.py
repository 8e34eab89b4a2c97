"""Subnets give each address once, keep reservations and AWS's five, and say when they are full."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from .support import image, refused

Client = Callable[..., Any]
REGION = "sa-east-1"
FULL = "InsufficientFreeAddressesInSubnet"


@pytest.fixture(scope="module")
def ec2(client: Client) -> Any:
    return client("ec2", REGION)


@pytest.fixture(scope="module")
def vpc(ec2: Any) -> str:
    return str(ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"])


@pytest.fixture
def subnet(ec2: Any, vpc: str) -> Iterator[str]:
    """A /28: 10.7.0.0 to 10.7.0.15."""
    made = ec2.create_subnet(VpcId=vpc, CidrBlock="10.7.0.0/28")["Subnet"]["SubnetId"]
    yield made
    here = [{"Name": "subnet-id", "Values": [made]}]
    for reservation in ec2.describe_instances(Filters=here)["Reservations"]:
        ec2.terminate_instances(InstanceIds=[machine["InstanceId"] for machine in reservation["Instances"]])
    for interface in ec2.describe_network_interfaces(Filters=here)["NetworkInterfaces"]:
        ec2.delete_network_interface(NetworkInterfaceId=interface["NetworkInterfaceId"])
    ec2.delete_subnet(SubnetId=made)


def interface(ec2: Any, subnet: str, **more: Any) -> dict[str, Any]:
    return dict(ec2.create_network_interface(SubnetId=subnet, **more)["NetworkInterface"])


def addresses(ec2: Any, subnet: str) -> list[str]:
    found = ec2.describe_network_interfaces(Filters=[{"Name": "subnet-id", "Values": [subnet]}])["NetworkInterfaces"]
    return sorted(address["PrivateIpAddress"] for nic in found for address in nic["PrivateIpAddresses"])


def left(ec2: Any, subnet: str) -> int:
    return int(ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["AvailableIpAddressCount"])


def machines(ec2: Any, subnet: str | None, number: int = 1, **more: Any) -> list[dict[str, Any]]:
    machine_image = image(ec2)
    place = {"SubnetId": subnet} if subnet else {}
    made = ec2.run_instances(
        ImageId=machine_image, InstanceType="t3.micro", MinCount=number, MaxCount=number, **place, **more
    )
    return list(made["Instances"])


def test_a_28_has_eleven_addresses_each_given_once(ec2: Any, subnet: str) -> None:
    assert left(ec2, subnet) == 11
    made = [interface(ec2, subnet) for _ in range(11)]
    assert sorted(addresses(ec2, subnet)) == sorted(f"10.7.0.{n}" for n in range(4, 15))
    assert left(ec2, subnet) == 0
    assert refused(ec2.create_network_interface, SubnetId=subnet) == FULL
    ec2.delete_network_interface(NetworkInterfaceId=made[3]["NetworkInterfaceId"])
    assert interface(ec2, subnet)["PrivateIpAddress"] == made[3]["PrivateIpAddress"]


def test_machines_and_interfaces_share_the_addresses(ec2: Any, subnet: str) -> None:
    interface(ec2, subnet, SecondaryPrivateIpAddressCount=3)
    made = machines(ec2, subnet, 6)
    assert len(set(addresses(ec2, subnet))) == 10
    with pytest.raises(ClientError, match=FULL):
        machines(ec2, subnet, 2)
    assert len(addresses(ec2, subnet)) == 10, "all or none"
    with pytest.raises(ClientError, match=FULL):
        interface(ec2, subnet, SecondaryPrivateIpAddressCount=1)
    ec2.terminate_instances(InstanceIds=[made[0]["InstanceId"]])
    assert left(ec2, subnet) == 2
    assert len(machines(ec2, subnet, 2)) == 2


def test_a_launch_that_does_not_fit_leaves_no_trace(ec2: Any, subnet: str) -> None:
    nics = [{"DeviceIndex": 0, "SubnetId": subnet}]
    with pytest.raises(ClientError, match=FULL):
        machines(ec2, None, 12, NetworkInterfaces=nics)
    assert addresses(ec2, subnet) == []
    assert ec2.describe_instances(Filters=[{"Name": "subnet-id", "Values": [subnet]}])["Reservations"] == []


def test_an_address_asked_for_by_name_is_checked(ec2: Any, subnet: str) -> None:
    assert interface(ec2, subnet, PrivateIpAddress="10.7.0.9")["PrivateIpAddress"] == "10.7.0.9"
    ask = {"SubnetId": subnet}
    assert refused(ec2.create_network_interface, **ask, PrivateIpAddress="10.7.0.9") == "InvalidIPAddress.InUse"
    for reserved in ("10.7.0.0", "10.7.0.3", "10.7.0.15", "10.7.9.9"):
        assert refused(ec2.create_network_interface, **ask, PrivateIpAddress=reserved) == "InvalidParameterValue"
    assert machines(ec2, subnet, PrivateIpAddress="10.7.0.10")[0]["PrivateIpAddress"] == "10.7.0.10"
    with pytest.raises(ClientError, match=r"InvalidIPAddress\.InUse"):
        machines(ec2, subnet, PrivateIpAddress="10.7.0.9")
    second = interface(ec2, subnet)["NetworkInterfaceId"]
    taken = {"NetworkInterfaceId": second, "PrivateIpAddresses": ["10.7.0.9"]}
    assert refused(ec2.assign_private_ip_addresses, **taken) == "InvalidIPAddress.InUse"
    ec2.assign_private_ip_addresses(NetworkInterfaceId=second, SecondaryPrivateIpAddressCount=2)
    assert len(set(addresses(ec2, subnet))) == 5


def test_a_machine_s_interface_goes_with_it_unless_told_otherwise(ec2: Any, subnet: str) -> None:
    stays = {"DeviceIndex": 0, "SubnetId": subnet, "DeleteOnTermination": False}
    made = [*machines(ec2, subnet), *machines(ec2, None, NetworkInterfaces=[stays])]
    kept = made[1]["NetworkInterfaces"][0]["PrivateIpAddress"]
    ec2.terminate_instances(InstanceIds=[machine["InstanceId"] for machine in made])
    assert addresses(ec2, subnet) == [kept]


def test_a_mount_target_takes_an_address_too(ec2: Any, subnet: str, client: Client) -> None:
    efs = client("efs", REGION)
    system = efs.create_file_system(CreationToken="full")["FileSystemId"]
    made = [interface(ec2, subnet) for _ in range(11)]
    assert refused(efs.create_mount_target, FileSystemId=system, SubnetId=subnet) == "NoFreeAddressesInSubnet"
    taken = {"FileSystemId": system, "SubnetId": subnet, "IpAddress": made[0]["PrivateIpAddress"]}
    assert refused(efs.create_mount_target, **taken) == "IpAddressInUse"
    ec2.delete_network_interface(NetworkInterfaceId=made[0]["NetworkInterfaceId"])
    target = efs.create_mount_target(FileSystemId=system, SubnetId=subnet)
    assert target["IpAddress"] == made[0]["PrivateIpAddress"]
    efs.delete_mount_target(MountTargetId=target["MountTargetId"])
    assert left(ec2, subnet) == 1


def test_an_endpoint_s_interface_lies_in_its_subnet(ec2: Any, vpc: str, subnet: str) -> None:
    service = f"com.amazonaws.{REGION}.ec2"
    endpoint = {"VpcId": vpc, "VpcEndpointType": "Interface", "ServiceName": service, "SubnetIds": [subnet]}
    made = ec2.create_vpc_endpoint(**endpoint)["VpcEndpoint"]["VpcEndpointId"]
    assert addresses(ec2, subnet) == ["10.7.0.4"]
    ec2.delete_vpc_endpoints(VpcEndpointIds=[made])
    assert left(ec2, subnet) == 11


def test_a_group_in_a_full_subnet_says_so_in_its_activities(ec2: Any, subnet: str, client: Client) -> None:
    scaling = client("autoscaling", REGION)
    data = {"ImageId": image(ec2), "InstanceType": "t3.micro"}
    template = ec2.create_launch_template(LaunchTemplateName="full", LaunchTemplateData=data)["LaunchTemplate"]
    interface(ec2, subnet, SecondaryPrivateIpAddressCount=9)
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="full",
        MinSize=0,
        MaxSize=2,
        DesiredCapacity=2,
        VPCZoneIdentifier=subnet,
        LaunchTemplate={"LaunchTemplateId": template["LaunchTemplateId"]},
    )
    told = scaling.describe_scaling_activities(AutoScalingGroupName="full")["Activities"]
    scaling.delete_auto_scaling_group(AutoScalingGroupName="full", ForceDelete=True)
    assert [activity["StatusCode"] for activity in told] == ["Failed", "Successful"]
    assert "not enough free addresses" in told[0]["StatusMessage"]


@pytest.mark.parametrize("cidr", ["10.0.0.0/15", "10.0.0.0/29"])
def test_a_vpc_is_a_16_to_a_28(ec2: Any, cidr: str) -> None:
    assert refused(ec2.create_vpc, CidrBlock=cidr) == "InvalidVpc.Range"


def test_a_route_to_the_vpc_s_own_prefix_is_refused(ec2: Any, vpc: str) -> None:
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    route = {"RouteTableId": table, "GatewayId": gateway}
    assert refused(ec2.create_route, **route, DestinationCidrBlock="10.7.0.0/16") == "RouteAlreadyExists"
    ec2.create_route(**route, DestinationCidrBlock="10.8.0.0/16")
    routes = ec2.describe_route_tables(RouteTableIds=[table])["RouteTables"][0]["Routes"]
    assert {route["DestinationCidrBlock"]: route["GatewayId"] for route in routes} == {
        "10.7.0.0/16": "local",
        "10.8.0.0/16": gateway,
    }


def reserve(ec2: Any, subnet: str, cidr: str, kind: str = "explicit", **more: Any) -> dict[str, Any]:
    made = ec2.create_subnet_cidr_reservation(SubnetId=subnet, Cidr=cidr, ReservationType=kind, **more)
    return dict(made["SubnetCidrReservation"])


def test_a_reservation_is_kept_read_and_deleted(ec2: Any, subnet: str) -> None:
    tags = [{"ResourceType": "subnet-cidr-reservation", "Tags": [{"Key": "Name", "Value": "api"}]}]
    made = reserve(ec2, subnet, "10.7.0.8/30", Description="API servers", TagSpecifications=tags)
    read = ec2.get_subnet_cidr_reservations(SubnetId=subnet)
    assert read["SubnetIpv6CidrReservations"] == []
    assert read["SubnetIpv4CidrReservations"] == [
        {
            "SubnetCidrReservationId": made["SubnetCidrReservationId"],
            "SubnetId": subnet,
            "Cidr": "10.7.0.8/30",
            "ReservationType": "explicit",
            "OwnerId": made["OwnerId"],
            "Description": "API servers",
            "Tags": [{"Key": "Name", "Value": "api"}],
        }
    ]
    gone = {"SubnetCidrReservationId": made["SubnetCidrReservationId"]}
    assert ec2.delete_subnet_cidr_reservation(**gone)["DeletedSubnetCidrReservation"]["Cidr"] == "10.7.0.8/30"
    assert refused(ec2.delete_subnet_cidr_reservation, **gone) == "InvalidSubnetCidrReservationID.NotFound"
    assert ec2.get_subnet_cidr_reservations(SubnetId=subnet)["SubnetIpv4CidrReservations"] == []


@pytest.mark.parametrize("cidr", ["10.7.1.0/28", "10.7.0.0/27", "10.7.0.8/29", "10.7.0.10/31"])
def test_a_reservation_lies_inside_the_subnet_and_beside_the_others(ec2: Any, subnet: str, cidr: str) -> None:
    made = reserve(ec2, subnet, "10.7.0.8/30")
    ask = {"SubnetId": subnet, "Cidr": cidr, "ReservationType": "prefix"}
    assert refused(ec2.create_subnet_cidr_reservation, **ask) == "InvalidParameterValue"
    reserve(ec2, subnet, "10.7.0.4/30", "prefix")
    ec2.delete_subnet_cidr_reservation(SubnetCidrReservationId=made["SubnetCidrReservationId"])
    reserve(ec2, subnet, "10.7.0.8/29")


@pytest.mark.parametrize(("kind", "counted"), [("explicit", 11), ("prefix", 7)])
def test_reserved_addresses_are_not_assigned_automatically(ec2: Any, subnet: str, kind: str, counted: int) -> None:
    made = reserve(ec2, subnet, "10.7.0.8/30", kind)
    assert left(ec2, subnet) == counted
    given = {interface(ec2, subnet)["PrivateIpAddress"] for _ in range(7)}
    assert given == {f"10.7.0.{n}" for n in (4, 5, 6, 7, 12, 13, 14)}
    assert refused(ec2.create_network_interface, SubnetId=subnet) == FULL
    ec2.delete_subnet_cidr_reservation(SubnetCidrReservationId=made["SubnetCidrReservationId"])
    assert interface(ec2, subnet)["PrivateIpAddress"] == "10.7.0.8"
    assert left(ec2, subnet) == 3


def test_an_explicitly_reserved_address_can_be_asked_for_by_name(ec2: Any, subnet: str) -> None:
    reserve(ec2, subnet, "10.7.0.8/30")
    assert interface(ec2, subnet, PrivateIpAddress="10.7.0.9")["PrivateIpAddress"] == "10.7.0.9"
    assert machines(ec2, subnet, PrivateIpAddress="10.7.0.10")[0]["PrivateIpAddress"] == "10.7.0.10"
    assert machines(ec2, subnet)[0]["PrivateIpAddress"] == "10.7.0.4"
