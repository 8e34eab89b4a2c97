"""Links of a fleet's regions in AWS: with each site, with each other, and between their names."""

from collections.abc import Mapping
from typing import TypedDict

import pulumi
import pulumi_aws as aws

from components.tags import Owner

from .aws_region import RegionLink
from .aws_site import SiteLink
from .connections import Connection
from .ends import RegionEnd
from .names import resolves
from .plan import Peering


class LinksArgs(TypedDict):
    """The regions by name, and what joins them with sites and with each other."""

    regions: Mapping[str, RegionEnd]
    connections: list[Connection]
    peerings: list[Peering]
    account_id: str
    owner: Owner


class Links(pulumi.ComponentResource):
    """`sites` are the links with sites by their connections' names."""

    def __init__(self, name: str, args: LinksArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:Links", name, None, opts)
        regions, owner = args["regions"], args["owner"]
        child = pulumi.ResourceOptions(parent=self)
        self.sites = {
            one.name: SiteLink(one.name, {"connection": one, "here": regions[one.region], "owner": owner}, child)
            for one in args["connections"]
        }
        for peering in args["peerings"]:
            RegionLink(
                f"{peering.here}-{peering.there}",
                {
                    "peering": peering,
                    "here": regions[peering.here],
                    "there": regions[peering.there],
                    "account_id": args["account_id"],
                    "owner": owner,
                },
                child,
            )
        self._names(regions)
        self.register_outputs({})

    def _names(self, regions: Mapping[str, RegionEnd]) -> None:
        """A pool's machines must find the API of a cluster whose home is elsewhere."""
        for pair in resolves(regions):
            here = regions[pair.here]
            aws.route53.ZoneAssociation(
                pair.name,
                zone_id=regions[pair.there]["zone_id"],
                vpc_id=here["network_id"],
                vpc_region=pair.here,
                opts=pulumi.ResourceOptions(parent=self, provider=here["provider"]),
            )
