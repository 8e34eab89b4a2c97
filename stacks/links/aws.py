"""The part of the links' stack that is in regions of AWS: with sites, and with each other."""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws

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

from .. import providers
from ..outputs import ConnectionOutputs, region_outputs


async def ends(world: World, regions: Sequence[str]) -> dict[str, RegionEnd]:
    """Of the regions of AWS. Raises RunError where a region's stack is of an older version."""
    return {region: await _end(world, region) for region in regions}


def build(
    world: World, regions: Mapping[str, RegionEnd], owner: Owner, opts: pulumi.ResourceOptions
) -> dict[str, ConnectionOutputs]:
    """Registers it, and gives the connections with sites by name."""
    fleet = world.fleet
    assert fleet.aws is not None  # fleet.rules: no region in AWS without an account
    linked = [one for one in connections(fleet, world.plan) if one.region in regions]
    made = Links(
        "links",
        {
            "regions": regions,
            "connections": linked,
            "peerings": between(peerings(fleet), regions),
            "zones": site_zones(fleet),
            "account_id": fleet.aws.account_id,
            "owner": owner,
        },
        opts,
    )
    return {one.name: _published(fleet.fleet, one, made.sites[one.name].vpn) for one in linked}


async def _end(world: World, region: str) -> RegionEnd:
    outputs = await region_outputs(region)
    return {
        "provider": providers.aws(world.fleet, region),
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
