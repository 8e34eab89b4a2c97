"""A link between two regions of AWS: their hubs are peers."""

from typing import TypedDict

import pulumi
import pulumi_aws as aws

from components.network.hub_tables import INWARD, OUTWARD
from components.tags import Owner

from ..ends import RegionEnd
from ..plan import Peering


class RegionLinkArgs(TypedDict):
    """`here` asks and `there` accepts; `account_id` is that of both."""

    peering: Peering
    here: RegionEnd
    there: RegionEnd
    account_id: str
    owner: Owner


class RegionLink(pulumi.ComponentResource):
    """A peering learns nothing by itself: each hub has one route, to the other region's block."""

    def __init__(self, name: str, args: RegionLinkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:RegionLink", name, None, opts)
        here, there, peering, owner = args["here"], args["there"], args["peering"], args["owner"]
        self.attachment = aws.ec2transitgateway.PeeringAttachment(
            name,
            transit_gateway_id=here["hub_id"],
            peer_transit_gateway_id=there["hub_id"],
            peer_region=peering.there,
            peer_account_id=args["account_id"],
            tags=owner.tags(name),
            opts=pulumi.ResourceOptions(parent=self, provider=here["provider"]),
        )
        accepted = aws.ec2transitgateway.PeeringAttachmentAccepter(
            name,
            transit_gateway_attachment_id=self.attachment.id,
            tags=owner.tags(name),
            opts=pulumi.ResourceOptions(parent=self, provider=there["provider"]),
        )
        for region, end, other in ((peering.here, here, there), (peering.there, there, here)):
            # Until the other side has accepted, AWS takes neither.
            opts = pulumi.ResourceOptions(parent=self, provider=end["provider"], depends_on=[accepted])
            aws.ec2transitgateway.RouteTableAssociation(
                f"{name}-{region}",
                transit_gateway_attachment_id=self.attachment.id,
                transit_gateway_route_table_id=end["table_ids"][INWARD],
                opts=opts,
            )
            aws.ec2transitgateway.Route(
                f"{name}-{region}",
                destination_cidr_block=other["block"],
                transit_gateway_attachment_id=self.attachment.id,
                transit_gateway_route_table_id=end["table_ids"][OUTWARD],
                # A table has one route to a block, and that of a deleted peering stays in it as a black hole.
                opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(delete_before_replace=True)),
            )
        self.register_outputs({})
