"""Route tables of transit gateways behave as AWS documents: associations, propagation, routes, peering, ends."""

from collections.abc import Callable
from typing import Any

import pytest

from .support import refused

Client = Callable[..., Any]
REGION, THERE = "ap-south-1", "ap-south-2"
SILENT = {"DefaultRouteTableAssociation": "disable", "DefaultRouteTablePropagation": "disable"}


@pytest.fixture(scope="module")
def ec2(client: Client) -> Any:
    return client("ec2", REGION)


def hub(ec2: Any, **options: str) -> str:
    return str(ec2.create_transit_gateway(Options=options)["TransitGateway"]["TransitGatewayId"])


def table(ec2: Any, of: str) -> str:
    made = ec2.create_transit_gateway_route_table(TransitGatewayId=of)["TransitGatewayRouteTable"]
    return str(made["TransitGatewayRouteTableId"])


def tables(ec2: Any, of: str) -> list[str]:
    mine = [{"Name": "transit-gateway-id", "Values": [of]}]
    found = ec2.describe_transit_gateway_route_tables(Filters=mine)["TransitGatewayRouteTables"]
    return [one["TransitGatewayRouteTableId"] for one in found if one["State"] != "deleted"]


def connection(ec2: Any, to: str) -> tuple[str, str, str]:
    """A customer gateway, its connection and that one's attachment."""
    gateway = ec2.create_customer_gateway(BgpAsn=65010, IpAddress="192.0.2.10", Type="ipsec.1")["CustomerGateway"]
    made = ec2.create_vpn_connection(
        Type="ipsec.1", CustomerGatewayId=gateway["CustomerGatewayId"], TransitGatewayId=to
    )["VpnConnection"]
    mine = [{"Name": "resource-id", "Values": [made["VpnConnectionId"]]}]
    (one,) = ec2.describe_transit_gateway_attachments(Filters=mine)["TransitGatewayAttachments"]
    return gateway["CustomerGatewayId"], made["VpnConnectionId"], one["TransitGatewayAttachmentId"]


def associated(ec2: Any, table: str) -> list[str]:
    found = ec2.get_transit_gateway_route_table_associations(TransitGatewayRouteTableId=table)["Associations"]
    return [one["TransitGatewayAttachmentId"] for one in found]


def propagating(ec2: Any, table: str) -> list[str]:
    asked = {"TransitGatewayRouteTableId": table}
    found = ec2.get_transit_gateway_route_table_propagations(**asked)["TransitGatewayRouteTablePropagations"]
    return [one["TransitGatewayAttachmentId"] for one in found]


def route(ec2: Any, table: str, cidr: str) -> dict[str, Any] | None:
    exact = [{"Name": "route-search.exact-match", "Values": [cidr]}]
    found = ec2.search_transit_gateway_routes(TransitGatewayRouteTableId=table, Filters=exact)["Routes"]
    return dict(found[0]) if found else None


def test_what_comes_to_a_gateway_joins_its_default_table_and_none_where_that_is_off(ec2: Any) -> None:
    usual, silent = hub(ec2), hub(ec2, **SILENT)
    (default,) = tables(ec2, usual)
    *_, attachment = connection(ec2, usual)
    assert (associated(ec2, default), propagating(ec2, default)) == ([attachment], [attachment])
    assert tables(ec2, silent) == []
    own = table(ec2, silent)
    connection(ec2, silent)
    vpc = ec2.describe_vpcs()["Vpcs"][0]["VpcId"]
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
    ec2.create_transit_gateway_vpc_attachment(TransitGatewayId=silent, VpcId=vpc, SubnetIds=[subnet])
    assert (associated(ec2, own), propagating(ec2, own)) == ([], [])


def test_an_attachment_is_associated_with_one_table_and_propagates_once_into_each(ec2: Any) -> None:
    silent = hub(ec2, **SILENT)
    one, other = table(ec2, silent), table(ec2, silent)
    *_, attachment = connection(ec2, silent)
    pair = {"TransitGatewayRouteTableId": one, "TransitGatewayAttachmentId": attachment}
    ec2.associate_transit_gateway_route_table(**pair)
    elsewhere = {**pair, "TransitGatewayRouteTableId": other}
    assert refused(ec2.associate_transit_gateway_route_table, **elsewhere) == "Resource.AlreadyAssociated"
    assert refused(ec2.delete_transit_gateway_route_table, TransitGatewayRouteTableId=one) == "IncorrectState"
    ec2.enable_transit_gateway_route_table_propagation(**pair)
    ec2.enable_transit_gateway_route_table_propagation(**elsewhere)
    assert refused(ec2.enable_transit_gateway_route_table_propagation, **pair).endswith(".Duplicate")
    ec2.disassociate_transit_gateway_route_table(**pair)
    assert refused(ec2.disassociate_transit_gateway_route_table, **pair) == "InvalidAssociation.NotFound"
    ec2.delete_transit_gateway_route_table(TransitGatewayRouteTableId=one)
    assert tables(ec2, silent) == [other]


def test_a_route_leads_to_an_attachment_until_that_is_gone(ec2: Any) -> None:
    silent = hub(ec2, **SILENT)
    own = table(ec2, silent)
    gateway, vpn, attachment = connection(ec2, silent)
    to = {"TransitGatewayRouteTableId": own, "DestinationCidrBlock": "10.133.0.0/16"}
    lost = {**to, "TransitGatewayAttachmentId": "tgw-attach-0123456789abcdef0"}
    assert refused(ec2.create_transit_gateway_route, **lost) == "InvalidTransitGatewayAttachmentID.NotFound"
    ec2.create_transit_gateway_route(**to, TransitGatewayAttachmentId=attachment)
    again = {**to, "TransitGatewayAttachmentId": attachment}
    assert refused(ec2.create_transit_gateway_route, **again) == "RouteAlreadyExists"
    found = route(ec2, own, "10.133.0.0/16")
    assert found
    assert [one["TransitGatewayAttachmentId"] for one in found["TransitGatewayAttachments"]] == [attachment]
    assert found["State"] == "active"
    assert refused(ec2.delete_customer_gateway, CustomerGatewayId=gateway) == "IncorrectState"
    assert refused(ec2.delete_transit_gateway, TransitGatewayId=silent) == "IncorrectState"
    ec2.delete_vpn_connection(VpnConnectionId=vpn)
    left = route(ec2, own, "10.133.0.0/16")
    assert left
    assert left["State"] == "blackhole"
    ec2.delete_customer_gateway(CustomerGatewayId=gateway)
    ec2.delete_transit_gateway_route(**to)
    assert refused(ec2.delete_transit_gateway_route, **to) == "InvalidRoute.NotFound"
    assert refused(ec2.delete_transit_gateway, TransitGatewayId=silent) == "IncorrectState", "its table is left"
    ec2.delete_transit_gateway_route_table(TransitGatewayRouteTableId=own)
    ec2.delete_transit_gateway(TransitGatewayId=silent)


def test_a_peering_carries_nothing_until_the_other_side_has_accepted(ec2: Any, client: Client) -> None:
    far = client("ec2", THERE)
    here, there = hub(ec2, **SILENT), hub(far, **SILENT)
    near_table, far_table = table(ec2, here), table(far, there)
    asked = {"PeerTransitGatewayId": there, "PeerRegion": THERE, "PeerAccountId": "123456789012"}
    made = ec2.create_transit_gateway_peering_attachment(TransitGatewayId=here, **asked)
    id_ = made["TransitGatewayPeeringAttachment"]["TransitGatewayAttachmentId"]
    pair = {"TransitGatewayRouteTableId": near_table, "TransitGatewayAttachmentId": id_}
    assert refused(ec2.associate_transit_gateway_route_table, **pair) == "IncorrectState"
    far.accept_transit_gateway_peering_attachment(TransitGatewayAttachmentId=id_)
    ec2.associate_transit_gateway_route_table(**pair)
    far.associate_transit_gateway_route_table(TransitGatewayRouteTableId=far_table, TransitGatewayAttachmentId=id_)
    assert refused(ec2.enable_transit_gateway_route_table_propagation, **pair) == "UnsupportedOperation"
    ec2.create_transit_gateway_route(**pair, DestinationCidrBlock="10.131.0.0/16")
    *_, other = connection(ec2, here)
    listed = ec2.describe_transit_gateway_peering_attachments()["TransitGatewayPeeringAttachments"]
    assert [one["TransitGatewayAttachmentId"] for one in listed] == [id_], "attachments of other kinds are none"
    assert refused(ec2.disable_transit_gateway_route_table_propagation, **pair).endswith(".NotFound")
    none = refused(ec2.delete_transit_gateway_peering_attachment, TransitGatewayAttachmentId=other)
    assert none == "InvalidTransitGatewayAttachmentID.NotFound"
    ec2.delete_transit_gateway_peering_attachment(TransitGatewayAttachmentId=id_)
    left = route(ec2, near_table, "10.131.0.0/16")
    assert left
    assert left["State"] == "blackhole"
    assert (associated(ec2, near_table), associated(far, far_table)) == ([], [])
