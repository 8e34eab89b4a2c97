"""Route tables of transit gateways, what joins them, and peerings between gateways."""

from collections.abc import Mapping
from typing import Any

from ..kinds import ID, Call, Kind, Out, P, props, replaces, same_paths
from .ec2 import TAGGING, TAGGING_APART

_LIVE = "State!='deleted' && State!='deleting'"
_PAIR = props("transitGatewayAttachmentId", "transitGatewayRouteTableId")
_THAT_PAIR = {
    "TransitGatewayAttachmentId": Out("transitGatewayAttachmentId"),
    "TransitGatewayRouteTableId": Out("transitGatewayRouteTableId"),
}
_MISSING = (
    "InvalidRouteTableID.NotFound",
    "InvalidTransitGatewayAttachmentID.NotFound",
    "InvalidAssociation.NotFound",
    "InvalidRoute.NotFound",
)


def _pair(_: Any, inputs: Mapping[str, Any]) -> str:
    return f"{inputs['transitGatewayRouteTableId']}_{inputs['transitGatewayAttachmentId']}"


def _in_table(what: str) -> Call:
    """Associations or propagations of a table: that of the attachment."""
    items = "Associations" if what == "associations" else "TransitGatewayRouteTablePropagations"
    return Call(
        f"get_transit_gateway_route_table_{what}",
        {"TransitGatewayRouteTableId": P("transitGatewayRouteTableId")},
        f"{items}[?TransitGatewayAttachmentId=='$transitGatewayAttachmentId'] | [0]",
    )


ROUTE_TABLE = Kind(
    service="ec2",
    create=Call(
        "create_transit_gateway_route_table",
        props("transitGatewayId"),
        "TransitGatewayRouteTable.TransitGatewayRouteTableId",
    ),
    read=Call(
        "describe_transit_gateway_route_tables",
        {"TransitGatewayRouteTableIds": [ID]},
        f"TransitGatewayRouteTables[?{_LIVE}] | [0]",
    ),
    delete=(Call("delete_transit_gateway_route_table", {"TransitGatewayRouteTableId": ID}),),
    outputs={
        **same_paths("transitGatewayId"),
        "defaultAssociationRouteTable": "DefaultAssociationRouteTable",
        "defaultPropagationRouteTable": "DefaultPropagationRouteTable",
        "arn": lambda found: f"arn:aws:ec2:{found.region}:{found.account}:transit-gateway-route-table/{found.id}",
    },
    replace=replaces("transitGatewayId"),
    tagging=TAGGING,
    missing=_MISSING,
)

ASSOCIATION = Kind(
    service="ec2",
    create=Call("associate_transit_gateway_route_table", _PAIR),
    make_id=_pair,
    read=_in_table("associations"),
    delete=(Call("disassociate_transit_gateway_route_table", _THAT_PAIR),),
    outputs={
        **same_paths("transitGatewayAttachmentId", "resourceId", "resourceType"),
        "transitGatewayRouteTableId": lambda found: found.inputs["transitGatewayRouteTableId"],
    },
    replace=replaces("transitGatewayAttachmentId", "transitGatewayRouteTableId"),
    missing=_MISSING,
)

PROPAGATION = Kind(
    service="ec2",
    create=Call("enable_transit_gateway_route_table_propagation", _PAIR),
    make_id=_pair,
    read=_in_table("propagations"),
    delete=(Call("disable_transit_gateway_route_table_propagation", _THAT_PAIR),),
    outputs=ASSOCIATION.outputs,
    replace=ASSOCIATION.replace,
    missing=_MISSING,
)

_ENDS = "TransitGatewayAttachments"
ROUTE = Kind(
    service="ec2",
    create=Call(
        "create_transit_gateway_route",
        props("destinationCidrBlock", "transitGatewayRouteTableId", "transitGatewayAttachmentId", "blackhole"),
    ),
    make_id=lambda _, inputs: f"{inputs['transitGatewayRouteTableId']}_{inputs['destinationCidrBlock']}",
    read=Call(
        "search_transit_gateway_routes",
        {
            "TransitGatewayRouteTableId": P("transitGatewayRouteTableId"),
            "Filters": [
                {"Name": "type", "Values": ["static"]},
                {"Name": "route-search.exact-match", "Values": [P("destinationCidrBlock")]},
            ],
        },
        "Routes[0]",
    ),
    delete=(
        Call(
            "delete_transit_gateway_route",
            {
                "TransitGatewayRouteTableId": Out("transitGatewayRouteTableId"),
                "DestinationCidrBlock": Out("destinationCidrBlock"),
            },
        ),
    ),
    outputs={
        "destinationCidrBlock": "DestinationCidrBlock",
        "transitGatewayRouteTableId": lambda found: found.inputs["transitGatewayRouteTableId"],
        "transitGatewayAttachmentId": f"{_ENDS}[0].TransitGatewayAttachmentId",
        # One that led to what is gone leads nowhere as well, and nobody asked for that.
        "blackhole": lambda found: (
            found.answer["State"] == "blackhole" and not found.answer["TransitGatewayAttachments"]
        ),
    },
    replace=replaces("destinationCidrBlock", "transitGatewayRouteTableId", "transitGatewayAttachmentId", "blackhole"),
    missing=_MISSING,
)

_READ_PEERING = Call(
    "describe_transit_gateway_peering_attachments",
    {"TransitGatewayAttachmentIds": [ID]},
    f"TransitGatewayPeeringAttachments[?{_LIVE}] | [0]",
)
_DELETE_PEERING = (Call("delete_transit_gateway_peering_attachment", {"TransitGatewayAttachmentId": ID}),)
PEERING = Kind(
    service="ec2",
    create=Call(
        "create_transit_gateway_peering_attachment",
        {
            **props("transitGatewayId", "peerTransitGatewayId", "peerRegion"),
            "PeerAccountId": P("peerAccountId"),
        },
        "TransitGatewayPeeringAttachment.TransitGatewayAttachmentId",
    ),
    read=_READ_PEERING,
    delete=_DELETE_PEERING,
    outputs={
        "transitGatewayId": "RequesterTgwInfo.TransitGatewayId",
        "peerTransitGatewayId": "AccepterTgwInfo.TransitGatewayId",
        "peerRegion": "AccepterTgwInfo.Region",
        "peerAccountId": "AccepterTgwInfo.OwnerId",
        "state": "State",
        "arn": lambda found: f"arn:aws:ec2:{found.region}:{found.account}:transit-gateway-attachment/{found.id}",
    },
    replace=replaces("transitGatewayId", "peerTransitGatewayId", "peerRegion", "peerAccountId"),
    tagging=TAGGING,
    missing=_MISSING,
)

ACCEPTER = Kind(
    service="ec2",
    create=Call("accept_transit_gateway_peering_attachment", props("transitGatewayAttachmentId")),
    make_id=lambda _, inputs: str(inputs["transitGatewayAttachmentId"]),
    read=_READ_PEERING,
    delete=_DELETE_PEERING,
    outputs={
        "transitGatewayAttachmentId": "TransitGatewayAttachmentId",
        "transitGatewayId": "AccepterTgwInfo.TransitGatewayId",
        "peerTransitGatewayId": "RequesterTgwInfo.TransitGatewayId",
        "peerAccountId": "RequesterTgwInfo.OwnerId",
    },
    replace=replaces("transitGatewayAttachmentId"),
    # Each end has tags of its own, and moto shows the maker's at both.
    tagging=TAGGING_APART,
    missing=_MISSING,
)

_MODULE = "aws:ec2transitgateway"
KINDS = {
    f"{_MODULE}/routeTable:RouteTable": ROUTE_TABLE,
    f"{_MODULE}/routeTableAssociation:RouteTableAssociation": ASSOCIATION,
    f"{_MODULE}/routeTablePropagation:RouteTablePropagation": PROPAGATION,
    f"{_MODULE}/route:Route": ROUTE,
    f"{_MODULE}/peeringAttachment:PeeringAttachment": PEERING,
    f"{_MODULE}/peeringAttachmentAccepter:PeeringAttachmentAccepter": ACCEPTER,
}
