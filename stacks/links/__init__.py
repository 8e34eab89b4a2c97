"""What joins a fleet's regions with each other and with its sites."""

import pulumi
import pulumi_aws as aws
import pulumi_random as random
from pulumi import ResourceOptions

from components.links.aws.connections import key_place
from components.links.aws.links import Links
from components.links.connections import Connection, connections
from components.links.ends import RegionEnd
from components.links.names import site_zones
from components.links.plan import between, peerings
from components.network.hub_tables import INWARD, OUTWARD
from components.tags import Owner
from fleet.cloud_alarms import told
from fleet.world import World

from ..catalogue import StackSpec
from ..outputs import ConnectionOutputs, LinksOutputs, publishing, region_outputs
from . import azure as links_azure


def program(world: World, stack: StackSpec) -> None:
    """Registers the links of all regions and publishes `LinksOutputs`."""
    pulumi.run(lambda: publishing(build(world, stack)))


async def build(world: World, stack: StackSpec) -> LinksOutputs:
    """Registers them, and gives what is published."""
    fleet, clouds = world.fleet, {name: world.fleet.regions[name].cloud for name in stack.depends_on}
    owner = Owner(fleet.fleet, fleet.owner, stack.name)
    opts = ResourceOptions(providers={"random": random.Provider("random")})
    ends = {region: await _end(world, region) for region, cloud in clouds.items() if cloud == "aws"}
    linked = [one for one in connections(fleet, world.plan) if one.region in ends]
    published: dict[str, ConnectionOutputs] = {}
    if ends:
        assert fleet.aws is not None  # fleet.rules: no region in AWS without an account
        made = Links(
            "links",
            {
                "regions": ends,
                "connections": linked,
                "peerings": between(peerings(fleet), ends),
                "zones": site_zones(fleet),
                "account_id": fleet.aws.account_id,
                "owner": owner,
            },
            opts,
        )
        published |= {one.name: _published(fleet.fleet, one, made.sites[one.name].vpn) for one in linked}
    azure = [region for region, cloud in clouds.items() if cloud == "azure"]
    if azure:
        published |= await links_azure.build(world, azure, ends, owner, opts)
    return {"regions": list(clouds), "connections": published}


async def _end(world: World, region: str) -> RegionEnd:
    """Raises RunError where the region's stack is of an older version."""
    assert world.fleet.aws is not None
    try:
        outputs = await region_outputs(region)
    except LookupError as error:
        raise pulumi.RunError(str(error)) from None
    return {
        "provider": aws.Provider(region, region=region, allowed_account_ids=[world.fleet.aws.account_id]),
        "block": world.plan.region(region).block,
        "network_id": outputs["network_id"],
        "zone_id": outputs["zone_id"],
        "hub_id": outputs["hub_id"],
        # Named here: a region's own list is unknown in its first preview.
        "table_ids": {name: outputs["hub_table_ids"][name] for name in (OUTWARD, INWARD)},
        "key_arn": outputs["key_arn"],
        "told": told(world.fleet, region),
    }


def _published(fleet: str, connection: Connection, vpn: aws.ec2.VpnConnection) -> ConnectionOutputs:
    outside = (vpn.tunnel1_address, vpn.tunnel2_address)
    return {
        "id": vpn.id,
        "site": connection.site,
        "region": connection.region,
        "gateway": connection.address,
        "secret": key_place(fleet, connection),
        "hub_addresses": {tunnel.name: at for tunnel, at in zip(connection.tunnels, outside, strict=True)},
    }
