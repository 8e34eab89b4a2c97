"""A region's hub on AWS: the transit gateway that its network, tunnels and peerings end at."""

from collections.abc import Sequence
from typing import TypedDict

import pulumi
import pulumi_aws as aws

from components.tags import Owner

from ..hub_tables import INWARD, OUTWARD


class HubArgs(TypedDict):
    """`block` is the region's one route, which the network is a part of."""

    asn: int
    block: str
    network_id: pulumi.Input[str]
    subnet_ids: Sequence[pulumi.Input[str]]
    owner: Owner


class Hub(pulumi.ComponentResource):
    """`tables` are the gateway's route tables by name.

    What comes by a tunnel or a peering finds the region's block and nothing else: no site reaches another place through
    a region, and a region's block is all that a site is told (AWS tells what the table of the tunnel has). The network
    alone sees the sites, which its own tunnels tell of, and the other regions.
    """

    def __init__(self, name: str, args: HubArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:network:Hub", name, None, opts)
        owner, child = args["owner"], pulumi.ResourceOptions(parent=self)
        self.gateway = aws.ec2transitgateway.TransitGateway(
            "hub",
            description="Joins the region with sites and other regions",
            amazon_side_asn=args["asn"],
            auto_accept_shared_attachments="disable",
            # With these nothing would be told apart: every attachment would see every other one.
            default_route_table_association="disable",
            default_route_table_propagation="disable",
            dns_support="enable",
            vpn_ecmp_support="enable",
            tags=owner.tags("hub"),
            opts=child,
        )
        self.attachment = aws.ec2transitgateway.VpcAttachment(
            "hub-network",
            transit_gateway_id=self.gateway.id,
            vpc_id=args["network_id"],
            subnet_ids=args["subnet_ids"],
            dns_support="enable",
            transit_gateway_default_route_table_association=False,
            transit_gateway_default_route_table_propagation=False,
            tags=owner.tags("hub-network"),
            opts=child,
        )
        self.tables = {
            table: aws.ec2transitgateway.RouteTable(
                f"hub-{table}", transit_gateway_id=self.gateway.id, tags=owner.tags(f"hub-{table}"), opts=child
            )
            for table in (OUTWARD, INWARD)
        }
        aws.ec2transitgateway.RouteTableAssociation(
            "hub-network",
            transit_gateway_attachment_id=self.attachment.id,
            transit_gateway_route_table_id=self.tables[OUTWARD].id,
            opts=child,
        )
        aws.ec2transitgateway.Route(
            "hub-network",
            destination_cidr_block=args["block"],
            transit_gateway_attachment_id=self.attachment.id,
            transit_gateway_route_table_id=self.tables[INWARD].id,
            # A table has one route to a block: where its attachment was deleted by somebody, the old one is in the way.
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(delete_before_replace=True)),
        )
        self.register_outputs({})
