"""What a killed run leaves open is found in the cloud again, or named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pulumi.automation.events import StepEventStateMetadata

from landbridge.clouds.aws import lookups as aws_lookups
from landbridge.engine.stack_report import SECRET_MARK
from landbridge.up import recovery
from local import client
from local.environment import scrubbed
from tests.landbridge import events

STATE = {
    "resources": [
        {"type": "pulumi:pulumi:Stack"},
        {"type": "aws:ec2/vpc:Vpc"},
        {"type": "pulumi:pulumi:StackReference", "external": True},  # the engine tells of none of these
    ],
    "pending_operations": [
        {
            "type": "creating",
            "resource": {
                "urn": events.urn("aws:iam/policy:Policy", "key"),
                "inputs": {"tags": {"Name": "example-us-west-2-key", "landbridge:fleet": "example"}},
            },
        },
        {"type": "updating", "resource": {"urn": events.urn("aws:ec2/vpc:Vpc", "network"), "id": "vpc-1"}},
    ],
}


def test_open_operations_are_read_from_the_state() -> None:
    creating, updating = recovery.pending(STATE)
    assert (creating.operation, creating.type, creating.name, creating.id) == (
        "creating",
        "aws:iam/policy:Policy",
        "key",
        None,
    )
    assert (updating.operation, updating.id) == ("updating", "vpc-1")
    assert recovery.pending(None) == recovery.pending({}) == []
    assert recovery.resources(STATE) == 1


def test_a_preview_says_that_up_will_clear_up() -> None:
    (warning,) = recovery.notice(recovery.pending(STATE))
    assert "creating iam.Policy key, updating ec2.Vpc network" in warning
    assert recovery.notice([]) == []


def test_creations_that_the_engine_has_given_up_are_asked_about_like_those_of_a_killed_run() -> None:
    urn, provider = events.urn("aws:ec2/vpc:Vpc", "network"), events.urn("pulumi:providers:aws", "us-west-2") + "::1"
    told = StepEventStateMetadata.from_json(
        {"urn": urn, "type": "aws:ec2/vpc:Vpc", "custom": True, "inputs": {"cidrBlock": "10.128.0.0/18"}}
        | {"parent": "stack", "provider": provider, "id": ""}
    )
    reference = StepEventStateMetadata.from_json({"urn": "other", "type": "pulumi:providers:tls"})
    (one,) = recovery.given_up({urn: told, "other": reference})
    assert (one.operation, one.type, one.name, one.id) == ("creating", "aws:ec2/vpc:Vpc", "network", None)
    assert one.resource["provider"] == provider
    assert one.inputs == {"cidrBlock": "10.128.0.0/18"}


def test_secrets_of_events_are_blinded_and_go_into_no_state() -> None:
    blind = {SECRET_MARK: "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "[secret]"}
    inputs = {"secretName": "ssh", "properties": {"value": blind, "attributes": {"enabled": True}}, "more": [blind, 1]}
    shown = {"secretName": "ssh", "properties": {"attributes": {"enabled": True}}, "more": [1]}
    assert recovery.without_secrets(inputs) == shown


def test_what_cannot_be_looked_up_is_named_with_its_tags() -> None:
    key = recovery.pending(STATE)[0]
    assert not recovery.findable(key.type)
    assert "aws:iam/policy:Policy key" in recovery.orphan(key)
    assert "Name=example-us-west-2-key, landbridge:fleet=example" in recovery.orphan(key)


@pytest.mark.parametrize("table", [aws_lookups.TAGGED, aws_lookups.FINDERS, aws_lookups.UNDOERS])
def test_every_type_has_one_way_back(table: dict[str, object]) -> None:
    ways = [aws_lookups.TAGGED, aws_lookups.FINDERS, aws_lookups.UNDOERS, dict.fromkeys(aws_lookups.REPEATABLE)]
    for type_ in table:
        assert sum(type_ in way for way in ways) == 1, type_


INSIDE = """
from landbridge.clouds.aws import lookups
of = lookups.clients("us-west-2", "210987654321")
ec2, efs = of("ec2"), of("efs")
def tags(name): return [{"Key": "Name", "Value": name}]
def tagged(kind, name): return [{"ResourceType": kind, "Tags": tags(name)}]
vpc = ec2.create_vpc(CidrBlock="10.128.0.0/18", TagSpecifications=tagged("vpc", "net"))["Vpc"]["VpcId"]
subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.128.0.0/24", TagSpecifications=tagged("subnet", "net"))["Subnet"]["SubnetId"]
table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
ec2.attach_internet_gateway(VpcId=vpc, InternetGatewayId=gateway)
ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)
files = efs.create_file_system(CreationToken="t", Tags=tags("shares"))["FileSystemId"]
mount = efs.create_mount_target(FileSystemId=files, SubnetId=subnet)["MountTargetId"]
of("s3").create_bucket(Bucket="bucket", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
def find(type_, **inputs): return lookups.find(of, type_, inputs)
net = {"tags": {"Name": "net"}}
assert find("aws:ec2/vpc:Vpc", **net) == vpc
assert find("aws:ec2/subnet:Subnet", **net) == subnet
assert find("aws:ec2/natGateway:NatGateway", **net) is None
assert find("aws:ec2/vpc:Vpc", tags={"Name": "other"}) is None
address = ec2.allocate_address(Domain="vpc")["AllocationId"]
nat = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address, TagSpecifications=tagged("natgateway", "net"))
nat = nat["NatGateway"]["NatGatewayId"]
assert find("aws:ec2/natGateway:NatGateway", **net) == nat
ec2.delete_nat_gateway(NatGatewayId=nat)
assert ec2.describe_nat_gateways(NatGatewayIds=[nat])["NatGateways"][0]["State"] == "deleted"
assert find("aws:ec2/natGateway:NatGateway", **net) is None
reserved = ec2.create_subnet_cidr_reservation(SubnetId=subnet, Cidr="10.128.0.0/27", ReservationType="explicit")
reserved = reserved["SubnetCidrReservation"]["SubnetCidrReservationId"]
reservation = "aws:ec2/subnetCidrReservation:SubnetCidrReservation"
assert find(reservation, subnetId=subnet, cidrBlock="10.128.0.0/27") == reserved
assert find(reservation, subnetId=subnet, cidrBlock="10.128.0.32/27") is None
assert find("aws:efs/fileSystem:FileSystem", tags={"Name": "shares"}) == files
assert find("aws:efs/mountTarget:MountTarget", fileSystemId=files, subnetId=subnet) == mount
assert find("aws:s3/bucket:Bucket", bucket="bucket") == "bucket"
assert find("aws:s3/bucket:Bucket", bucket="other") is None
assert find("aws:iam/role:Role", name="nobody") is None
kms, own = of("kms"), [{"TagKey": "Name", "TagValue": "key"}]
gone, key = (kms.create_key(Tags=own)["KeyMetadata"]["KeyId"] for _ in range(2))
kms.schedule_key_deletion(KeyId=gone, PendingWindowInDays=7)
assert find("aws:kms/key:Key", tags={"Name": "key"}) == key
assert find("aws:kms/key:Key", tags={"Name": "other"}) is None
assert find("aws:kms/key:Key") is None
topic = of("sns").create_topic(Name="alarms")["TopicArn"]
assert find("aws:sns/topic:Topic", name="alarms") == topic
assert find("aws:sns/topic:Topic", name="larms") is None
ec2.create_placement_group(GroupName="near", Strategy="cluster")
assert find("aws:ec2/placementGroup:PlacementGroup", name="near") == "near"
assert find("aws:ec2/placementGroup:PlacementGroup", name="far") is None
elsewhere = lookups.clients("us-west-2", "123456789012")
assert lookups.find(elsewhere, "aws:ec2/vpc:Vpc", net) is None

def links():
    found = ec2.describe_route_tables(RouteTableIds=[table])["RouteTables"][0]
    return len(found["Routes"]), len([a for a in found["Associations"] if not a.get("Main")])
assert links() == (2, 1)
assert lookups.undo(of, "aws:ec2/route:Route", {"routeTableId": table, "destinationCidrBlock": "0.0.0.0/0"})
assert lookups.undo(of, "aws:ec2/routeTableAssociation:RouteTableAssociation", {"routeTableId": table, "subnetId": subnet})
assert links() == (1, 0)
assert lookups.undo(of, "aws:ec2/route:Route", {"routeTableId": table, "destinationCidrBlock": "0.0.0.0/0"})
assert not lookups.undo(of, "aws:ec2/vpc:Vpc", net)

far = lookups.clients("us-east-1", "210987654321")
hubs = [client("ec2").create_transit_gateway(Options={"DefaultRouteTableAssociation": "disable", "DefaultRouteTablePropagation": "disable"})["TransitGateway"]["TransitGatewayId"] for client in (of, far)]
hub = "aws:ec2transitgateway/"
rtb = ec2.create_transit_gateway_route_table(TransitGatewayId=hubs[0])["TransitGatewayRouteTable"]["TransitGatewayRouteTableId"]
gateway = ec2.create_customer_gateway(BgpAsn=65010, IpAddress="192.0.2.10", Type="ipsec.1")["CustomerGateway"]["CustomerGatewayId"]
vpn = ec2.create_vpn_connection(Type="ipsec.1", CustomerGatewayId=gateway, TransitGatewayId=hubs[0])["VpnConnection"]["VpnConnectionId"]
peering = ec2.create_transit_gateway_peering_attachment(TransitGatewayId=hubs[0], PeerTransitGatewayId=hubs[1], PeerRegion="us-east-1", PeerAccountId="210987654321")
peering = peering["TransitGatewayPeeringAttachment"]["TransitGatewayAttachmentId"]
ec2.create_tags(Resources=[rtb, gateway, vpn, peering], Tags=tags("net"))
assert find(hub + "routeTable:RouteTable", **net) == rtb
assert find("aws:ec2/customerGateway:CustomerGateway", **net) == gateway
assert find("aws:ec2/vpnConnection:VpnConnection", **net) == vpn
assert find(hub + "peeringAttachment:PeeringAttachment", **net) == peering
accepter = {"transitGatewayAttachmentId": peering}
assert lookups.find(far, hub + "peeringAttachmentAccepter:PeeringAttachmentAccepter", accepter) is None, "it has not accepted"
far("ec2").accept_transit_gateway_peering_attachment(TransitGatewayAttachmentId=peering)
assert lookups.find(far, hub + "peeringAttachmentAccepter:PeeringAttachmentAccepter", accepter) == peering
attachment = ec2.describe_transit_gateway_attachments(Filters=[{"Name": "resource-id", "Values": [vpn]}])["TransitGatewayAttachments"][0]["TransitGatewayAttachmentId"]
pair = {"TransitGatewayRouteTableId": rtb, "TransitGatewayAttachmentId": attachment}
given = {"transitGatewayRouteTableId": rtb, "transitGatewayAttachmentId": attachment, "destinationCidrBlock": "10.131.0.0/16"}
ways = (
    ("routeTableAssociation:RouteTableAssociation", ec2.associate_transit_gateway_route_table, {}),
    ("routeTablePropagation:RouteTablePropagation", ec2.enable_transit_gateway_route_table_propagation, {}),
    ("route:Route", ec2.create_transit_gateway_route, {"DestinationCidrBlock": "10.131.0.0/16"}),
)
for kind, make, more in ways:
    make(**pair, **more)
    assert lookups.undo(of, hub + kind, given)
    make(**pair, **more)  # it was gone, or this would be refused
print("found")
"""


@pytest.mark.cloud
def test_resources_are_found_and_links_undone_in_the_account_and_region_they_are_in(tmp_path: Path) -> None:
    cloud = client.ensure(tmp_path / "local")
    try:
        command = client.enter_command(cloud, [sys.executable, "-c", INSIDE], client.ROOT)
        done = subprocess.run(
            command, env=scrubbed(os.environ), capture_output=True, text=True, timeout=60, check=False
        )
        assert done.stdout.strip() == "found", done.stderr
    finally:
        client.stop(cloud.home)


@pytest.mark.parametrize(
    ("metadata", "id_"),
    [
        ({"name": "coredns", "namespace": "kube-system"}, "kube-system/coredns"),
        ({"name": "coredns"}, "coredns"),
        ({"namespace": "kube-system", "generateName": "x-"}, None),
        ({}, None),
    ],
)
def test_objects_of_a_cluster_go_by_their_names(metadata: dict[str, str], id_: str | None) -> None:
    """One that was not made after all is dropped by the refresh which follows."""
    resource = {"urn": events.urn("kubernetes:apps/v1:Deployment", "d"), "inputs": {"metadata": metadata}}
    op = recovery.Pending("creating", resource)
    assert recovery.findable(op.type)
    assert recovery.find(lambda _: pytest.fail("no cloud is asked"), "", op) == id_
