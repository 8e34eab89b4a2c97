"""The part of the links' stack that is in regions of Azure: with sites, with each other, and with those of AWS."""

from collections.abc import Mapping, Sequence

from pulumi import ResourceOptions

from components.links.aws.cross_cloud import cross_cloud_connections
from components.links.azure.connections import other_ends
from components.links.azure.links import Links
from components.links.ends import AzureEnd, RegionEnd
from components.links.names import site_zones
from components.links.plan import between, peerings
from components.tags import Owner
from fleet.buckets import resource_group, vault_name
from fleet.cloud_alarms import told
from fleet.world import World

from .. import providers
from ..outputs import ConnectionOutputs, region_outputs


async def build(
    world: World, regions: Sequence[str], aws: Mapping[str, RegionEnd], owner: Owner, opts: ResourceOptions
) -> dict[str, ConnectionOutputs]:
    """Registers it, and gives the connections with sites by name. `aws` are the regions of AWS."""
    fleet, plan = world.fleet, world.plan
    here = {region: await _end(world, region) for region in regions}
    made = Links(
        "azure-links",
        {
            "regions": here,
            "aws": aws,
            "ends": [
                end
                for region in regions
                for end in other_ends(fleet, plan, region)
                if end.tunnel is None or end.tunnel.aws in aws
            ],
            "cross_cloud": [
                one for one in cross_cloud_connections(fleet, plan) if one.aws in aws and one.azure in here
            ],
            "peerings": between(peerings(fleet), here),
            "zones": site_zones(fleet),
            "owner": owner,
        },
        opts,
    )
    return {
        name: {
            "id": link.vpn.id,
            "site": link.connection.site,
            "region": link.connection.region,
            "gateway": link.connection.address,
            "secret": link.secret,
            "hub_addresses": {
                tunnel.name: here[link.connection.region]["hub_addresses"][tunnel.instance]
                for tunnel in link.connection.tunnels
            },
        }
        for name, link in made.sites.items()
    }


async def _end(world: World, region: str) -> AzureEnd:
    outputs = await region_outputs(region)
    return {
        "provider": providers.azure(world.fleet, region),
        "region": region,
        "group": resource_group(world.fleet, region),
        "vault": vault_name(world.fleet, region),
        "network_id": outputs["network_id"],
        "zone_name": f"{region}.{world.fleet.domain}",
        "hub_id": outputs["hub_id"],
        "hub_addresses": outputs["hub_addresses"],
        "told": told(world.fleet, region),
    }
