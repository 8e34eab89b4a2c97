"""Transit gateways and their attachments."""

from collections.abc import Callable

from ..kinds import ID, Added, Call, Change, Found, Kind, P, Removed, props, replaces, same_paths
from .ec2 import TAGGING

_OPTIONS = (
    "amazonSideAsn",
    "autoAcceptSharedAttachments",
    "defaultRouteTableAssociation",
    "defaultRouteTablePropagation",
    "dnsSupport",
    "vpnEcmpSupport",
)
_LIVE = "State!='deleted' && State!='deleting'"


def _is_default_table(option: str) -> Callable[[Found], bool]:
    return lambda found: (
        found.answer["joined"] is not None and found.answer["joined"] == found.answer["hub"].get(option)
    )


HUB = Kind(
    service="ec2",
    create=Call(
        "create_transit_gateway",
        {"Description": P("description"), "Options": props(*_OPTIONS)},
        "TransitGateway.TransitGatewayId",
    ),
    read=Call("describe_transit_gateways", {"TransitGatewayIds": [ID]}, f"TransitGateways[?{_LIVE}] | [0]"),
    delete=(Call("delete_transit_gateway", {"TransitGatewayId": ID}),),
    outputs={
        **{name: f"Options.{name[0].upper()}{name[1:]}" for name in _OPTIONS},
        "description": "Description",
        "ownerId": "OwnerId",
        "arn": "TransitGatewayArn",
        "associationDefaultRouteTableId": "Options.AssociationDefaultRouteTableId",
        "propagationDefaultRouteTableId": "Options.PropagationDefaultRouteTableId",
    },
    replace=replaces("amazonSideAsn", "defaultRouteTableAssociation", "defaultRouteTablePropagation"),
    changes=(
        Change(
            ("description", "autoAcceptSharedAttachments", "dnsSupport", "vpnEcmpSupport"),
            (
                Call(
                    "modify_transit_gateway",
                    {
                        "TransitGatewayId": ID,
                        "Description": P("description"),
                        "Options": props("autoAcceptSharedAttachments", "dnsSupport", "vpnEcmpSupport"),
                    },
                ),
            ),
        ),
    ),
    tagging=TAGGING,
    missing=("InvalidTransitGatewayID.NotFound",),
)

ATTACHMENT = Kind(
    service="ec2",
    create=Call(
        "create_transit_gateway_vpc_attachment",
        {**props("transitGatewayId", "vpcId", "subnetIds"), "Options": props("dnsSupport")},
        "TransitGatewayVpcAttachment.TransitGatewayAttachmentId",
    ),
    read=Call(
        "describe_transit_gateway_vpc_attachments",
        {"TransitGatewayAttachmentIds": [ID]},
        f"TransitGatewayVpcAttachments[?{_LIVE}] | [0]",
    ),
    delete=(Call("delete_transit_gateway_vpc_attachment", {"TransitGatewayAttachmentId": ID}),),
    more={
        "joined": Call(
            "describe_transit_gateway_attachments",
            {"TransitGatewayAttachmentIds": [ID]},
            "TransitGatewayAttachments[0].Association.TransitGatewayRouteTableId",
        ),
        "hub": Call(
            "describe_transit_gateways", {"TransitGatewayIds": [P("transitGatewayId")]}, "TransitGateways[0].Options"
        ),
    },
    outputs={
        **same_paths("transitGatewayId", "vpcId", "subnetIds"),
        "vpcOwnerId": "VpcOwnerId",
        "dnsSupport": "Options.DnsSupport",
        "transitGatewayDefaultRouteTableAssociation": _is_default_table("AssociationDefaultRouteTableId"),
        "transitGatewayDefaultRouteTablePropagation": lambda found: (
            "PropagationDefaultRouteTableId" in found.answer["hub"]
        ),
    },
    # A gateway joins what is attached to it, or not, by its own options: what a program says here must say the same.
    accepts=("transitGatewayDefaultRouteTableAssociation", "transitGatewayDefaultRouteTablePropagation"),
    replace=replaces("transitGatewayId", "vpcId"),
    changes=(
        Change(
            ("subnetIds",),
            (
                Call(
                    "modify_transit_gateway_vpc_attachment",
                    {
                        "TransitGatewayAttachmentId": ID,
                        "AddSubnetIds": Added("subnetIds"),
                        "RemoveSubnetIds": Removed("subnetIds"),
                    },
                ),
            ),
        ),
        Change(
            ("dnsSupport",),
            (
                Call(
                    "modify_transit_gateway_vpc_attachment",
                    {"TransitGatewayAttachmentId": ID, "Options": props("dnsSupport")},
                ),
            ),
        ),
    ),
    tagging=TAGGING,
    missing=("InvalidTransitGatewayAttachmentID.NotFound",),
)

KINDS = {
    "aws:ec2transitgateway/transitGateway:TransitGateway": HUB,
    "aws:ec2transitgateway/vpcAttachment:VpcAttachment": ATTACHMENT,
}
