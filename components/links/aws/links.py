"""Links of a fleet's regions in AWS: with each site, with each other, and between their names."""

from collections.abc import Mapping
from typing import TypedDict

import pulumi
import pulumi_aws as aws

from components.tags import Owner

from ..connections import Connection
from ..ends import RegionEnd
from ..names import SiteZone, resolves
from ..plan import Peering
from .region import RegionLink
from .site import SiteLink

# A host that is moved has another address for its names within five minutes.
RECORD_SECONDS = 300


class LinksArgs(TypedDict):
    """The regions by name, and what joins them with sites and with each other. `zones` have sites' own names."""

    regions: Mapping[str, RegionEnd]
    connections: list[Connection]
    peerings: list[Peering]
    zones: list[SiteZone]
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
        for zone in args["zones"]:
            self._site_names(zone, regions, owner)
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

    def _site_names(self, zone: SiteZone, regions: Mapping[str, RegionEnd], owner: Owner) -> None:
        """It is made with the network of the first region; the others come one by one, and touch no other one."""
        (first, home), *others = regions.items()
        child = pulumi.ResourceOptions(parent=self, provider=home["provider"])
        made = aws.route53.Zone(
            f"names-{zone.site}",
            name=zone.name,
            comment=f"Hosts of {zone.site}",
            vpcs=[{"vpc_id": home["network_id"], "vpc_region": first}],
            tags=owner.tags(f"names-{zone.site}"),
            # Another first region makes it anew, and no network takes two zones of one name.
            opts=pulumi.ResourceOptions.merge(
                child, pulumi.ResourceOptions(ignore_changes=["vpcs"], delete_before_replace=True)
            ),
        )
        for region, end in others:
            aws.route53.ZoneAssociation(
                f"{zone.site}-in-{region}",
                zone_id=made.id,
                vpc_id=end["network_id"],
                vpc_region=region,
                opts=pulumi.ResourceOptions(parent=self, provider=end["provider"]),
            )
        for host, address in zone.hosts:
            aws.route53.Record(
                host,
                zone_id=made.id,
                name=host,
                type="A",
                ttl=RECORD_SECONDS,
                records=[address],
                opts=child,
            )
