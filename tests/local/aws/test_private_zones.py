"""Private hosted zones behave as the Route 53 API reference says."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .support import refused

Client = Callable[..., Any]
REGION = "eu-west-2"


@pytest.fixture(scope="module")
def route53(client: Client) -> Any:
    return client("route53", REGION)


@pytest.fixture(scope="module")
def vpcs(client: Client) -> list[dict[str, str]]:
    ec2 = client("ec2", REGION)
    return [
        {"VPCRegion": REGION, "VPCId": ec2.create_vpc(CidrBlock=f"10.{n}.0.0/16")["Vpc"]["VpcId"]} for n in range(2)
    ]


@pytest.fixture
def zone(route53: Any, vpcs: list[dict[str, str]]) -> Iterator[str]:
    """A zone made with the first VPC and no word of PrivateZone."""
    made = route53.create_hosted_zone(Name="fleet.example", CallerReference="one", VPC=vpcs[0])
    assert made["VPC"] == vpcs[0]
    assert made["HostedZone"]["Config"]["PrivateZone"] is True
    assert "DelegationSet" not in made
    yield made["HostedZone"]["Id"]
    route53.delete_hosted_zone(Id=made["HostedZone"]["Id"])


def test_a_zone_created_with_a_vpc_reads_back_as_private(route53: Any, zone: str, vpcs: list[dict[str, str]]) -> None:
    read = route53.get_hosted_zone(Id=zone)
    assert read["HostedZone"]["Config"]["PrivateZone"] is True
    assert read["VPCs"] == vpcs[:1]
    listed = route53.list_hosted_zones()["HostedZones"]
    assert next(each for each in listed if each["Id"] == zone)["Config"]["PrivateZone"] is True
    found = route53.list_hosted_zones_by_vpc(**vpcs[0])["HostedZoneSummaries"]
    assert [summary["Name"] for summary in found] == ["fleet.example."]


def test_a_zone_created_without_one_is_public_and_takes_none(route53: Any, vpcs: list[dict[str, str]]) -> None:
    config = {"Comment": "for all"}
    made = route53.create_hosted_zone(Name="open.example", CallerReference="two", HostedZoneConfig=config)
    assert made["HostedZone"]["Config"] == {"Comment": "for all", "PrivateZone": False}
    assert made["DelegationSet"]["NameServers"]
    zone = made["HostedZone"]["Id"]
    assert refused(route53.associate_vpc_with_hosted_zone, HostedZoneId=zone, VPC=vpcs[0]) == "PublicZoneVPCAssociation"
    private = {"Name": "no.example", "CallerReference": "three", "HostedZoneConfig": {"PrivateZone": True}}
    assert refused(route53.create_hosted_zone, **private) == "InvalidInput"
    route53.delete_hosted_zone(Id=zone)


def test_vpcs_come_and_go_but_the_last_one_stays(route53: Any, zone: str, vpcs: list[dict[str, str]]) -> None:
    route53.associate_vpc_with_hosted_zone(HostedZoneId=zone, VPC=vpcs[1])
    assert route53.get_hosted_zone(Id=zone)["VPCs"] == vpcs
    route53.disassociate_vpc_from_hosted_zone(HostedZoneId=zone, VPC=vpcs[0])
    assert route53.get_hosted_zone(Id=zone)["VPCs"] == vpcs[1:]
    leave = route53.disassociate_vpc_from_hosted_zone
    assert refused(leave, HostedZoneId=zone, VPC=vpcs[0]) == "VPCAssociationNotFound"
    assert refused(leave, HostedZoneId=zone, VPC=vpcs[1]) == "LastVPCAssociation"
    assert route53.get_hosted_zone(Id=zone)["VPCs"] == vpcs[1:]


def test_a_vpc_must_exist_and_know_the_name_from_nowhere_else(
    route53: Any, zone: str, vpcs: list[dict[str, str]]
) -> None:
    nowhere = {"VPCRegion": REGION, "VPCId": "vpc-0123456789abcdef0"}
    join = route53.associate_vpc_with_hosted_zone
    assert refused(join, HostedZoneId=zone, VPC=nowhere) == "InvalidVPCId"
    elsewhere = {**vpcs[1], "VPCRegion": "us-east-1"}
    assert refused(join, HostedZoneId=zone, VPC=elsewhere) == "InvalidVPCId"
    assert refused(join, HostedZoneId=zone, VPC=vpcs[0]) == "ConflictingDomainExists"
    again = {"Name": "fleet.example", "CallerReference": "four", "VPC": vpcs[0]}
    assert refused(route53.create_hosted_zone, **again) == "ConflictingDomainExists"
