"""A link between two regions of Azure: their networks are peers, by Azure's backbone and no gateway."""

from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.tags import Owner

from ..ends import AzureEnd
from ..plan import Peering


class RegionLinkArgs(TypedDict):
    """Each end has a half of its own."""

    peering: Peering
    here: AzureEnd
    there: AzureEnd
    owner: Owner


class RegionLink(pulumi.ComponentResource):
    """Neither uses the other's gateway: a site reaches a region by that region's own tunnels."""

    def __init__(self, name: str, args: RegionLinkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:RegionLink", name, None, opts)
        here, there = args["here"], args["there"]
        for end, other in ((here, there), (there, here)):
            azure.network.VirtualNetworkPeering(
                f"{name}-{end['region']}",
                virtual_network_peering_name=args["owner"].name(other["region"], 80),
                resource_group_name=end["group"],
                virtual_network_name=pulumi.Output.from_input(end["network_id"]).apply(_name),
                remote_virtual_network={"id": other["network_id"]},
                allow_virtual_network_access=True,
                # Laptops' packets come by their servers.
                allow_forwarded_traffic=True,
                allow_gateway_transit=False,
                use_remote_gateways=False,
                # What is made first is "Initiated", and changes once the other half is there.
                opts=pulumi.ResourceOptions(
                    parent=self, provider=end["provider"], ignore_changes=["peeringState", "peeringSyncLevel"]
                ),
            )
        self.register_outputs({})


def _name(network_id: str) -> str:
    return network_id.rpartition("/")[2]
