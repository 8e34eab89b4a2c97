"""Links of a fleet's regions in Azure: with each site, with each other, with AWS's, and between their names."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.tags import Owner

from ..aws.cross_cloud import CrossCloudConnection
from ..ends import AzureEnd, RegionEnd
from ..names import SiteZone, resolves
from ..plan import Peering
from .connections import OtherEnd
from .region import RegionLink
from .site import SiteLink

# A host that is moved has another address for its names within five minutes.
RECORD_SECONDS = 300


class LinksArgs(TypedDict):
    """The regions by name, those of AWS as well, and what joins them. `ends` are all that regions of Azure know."""

    regions: Mapping[str, AzureEnd]
    aws: Mapping[str, RegionEnd]
    ends: Sequence[OtherEnd]
    cross_cloud: Sequence[CrossCloudConnection]
    peerings: Sequence[Peering]
    zones: Sequence[SiteZone]
    owner: Owner


class Links(pulumi.ComponentResource):
    """`sites` are the links with sites by their connections' names."""

    def __init__(self, name: str, args: LinksArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:AzureLinks", name, None, opts)
        regions, owner = args["regions"], args["owner"]
        self.owner, child = owner, pulumi.ResourceOptions(parent=self)
        self.sites = {
            end.name: SiteLink(
                end.name, {"connection": end.site, "end": end, "here": regions[end.region], "owner": owner}, child
            )
            for end in args["ends"]
            if end.site
        }
        for peering in args["peerings"]:
            here, there = regions[peering.here], regions[peering.there]
            name = f"{peering.here}-{peering.there}"
            RegionLink(name, {"peering": peering, "here": here, "there": there, "owner": owner}, child)
        for pair in dict.fromkeys((one.aws, one.azure) for one in args["cross_cloud"]):
            from ..cross_cloud_link import CrossingLink  # AWS's SDK, which no fleet in Azure alone needs

            CrossingLink(
                "-".join(pair),
                {
                    "connections": [one for one in args["cross_cloud"] if (one.aws, one.azure) == pair],
                    "ends": [end for end in args["ends"] if end.tunnel and (end.tunnel.aws, end.region) == pair],
                    "aws": args["aws"][pair[0]],
                    "azure": regions[pair[1]],
                    "owner": owner,
                },
                child,
            )
        for one in resolves(regions):
            self._link(one.name, regions[one.there]["zone_name"], regions[one.there], regions[one.here])
        for zone in args["zones"]:
            self._site_names(zone, regions)
        self.register_outputs({})

    def _link(self, name: str, zone: pulumi.Input[str], home: AzureEnd, network: AzureEnd) -> None:
        """The network resolves the names of a zone that is in the home's group."""
        azure.privatedns.VirtualNetworkLink(
            name,
            virtual_network_link_name=self.owner.name(network["region"], 80),
            private_zone_name=zone,
            resource_group_name=home["group"],
            location="global",
            registration_enabled=False,
            virtual_network={"id": network["network_id"]},
            tags=self.owner.tags(name),
            opts=pulumi.ResourceOptions(parent=self, provider=home["provider"]),
        )

    def _site_names(self, zone: SiteZone, regions: Mapping[str, AzureEnd]) -> None:
        home = next(iter(regions.values()))
        child = pulumi.ResourceOptions(parent=self, provider=home["provider"])
        made = azure.privatedns.PrivateZone(
            f"names-{zone.site}",
            private_zone_name=zone.name,
            resource_group_name=home["group"],
            location="global",
            tags=self.owner.tags(f"names-{zone.site}"),
            opts=child,
        )
        for region, end in regions.items():
            self._link(f"{zone.site}-in-{region}", made.name, home, end)
        for host, address in zone.hosts:
            azure.privatedns.PrivateRecordSet(
                host,
                private_zone_name=made.name,
                resource_group_name=home["group"],
                relative_record_set_name=host.removesuffix(f".{zone.name}"),
                record_type="A",
                ttl=RECORD_SECONDS,
                a_records=[{"ipv4_address": address}],
                opts=child,
            )
