"""A region on AWS: its network, the fleet bucket, the shares."""

import pulumi
from pulumi import ResourceOptions

from components.alarms.aws.receivers import Receivers
from components.boot.aws.authority import PeopleAuthority
from components.network.aws.network import Network
from components.network.aws.spec import network_spec
from components.storage.aws.storage import Bucket, Shares
from components.storage.shares import arn_prefix, shares_spec
from components.tags import Owner
from fleet.buckets import bucket_name
from fleet.logins import authority_place, served
from fleet.world import World

from .. import providers
from ..catalogue import StackSpec
from ..outputs import RegionOutputs, SshOutputs
from .ssh import with_keys


def build(world: World, stack: StackSpec) -> RegionOutputs:
    """Registers the region's resources, and gives what it publishes."""
    fleet, region = world.fleet, stack.region
    owner = Owner(fleet.fleet, fleet.owner, stack.name)
    provider = providers.aws(fleet, region)
    opts = ResourceOptions(providers={"aws": provider})
    spec = network_spec(fleet, world.plan, region)
    bucket = Bucket("bucket", {"fleet": fleet, "region": region, "owner": owner}, opts)
    network = Network("network", {"spec": spec, "owner": owner, "flow_log_arn": bucket.flow_log_arn}, opts)
    zones = world.plan.region(region).zones
    shares_addresses = {zone: zones[zone].addresses["shares"] for zone in zones}
    shares = Shares(
        "shares",
        {
            "spec": shares_spec(fleet),
            "owner": owner,
            "arn_prefix": arn_prefix(fleet, region),
            "key_arn": bucket.key.arn,
            "subnets": network.private_subnets(),
            "addresses": shares_addresses,
            "group_id": network.groups["shares"].id,
        },
        opts,
    )
    if fleet.cloud_alarms:
        Receivers("alarms", {"fleet": fleet, "region": region, "key_arn": bucket.key.arn, "owner": owner}, opts)
    public = [subnet for subnet in spec.subnets if subnet.public]
    private = [subnet for subnet in spec.subnets if not subnet.public]
    ssh = _people(world, owner, bucket.key.arn, opts)
    return {
        "cloud": "aws",
        "network_id": network.vpc.id,
        "network_cidr": spec.cidr,
        "private_subnet_ids": {subnet.zone: network.subnets[subnet.name].id for subnet in private},
        "fixed_subnet_ids": {subnet.zone: network.subnets[subnet.name].id for subnet in private},
        "public_subnet_ids": {subnet.zone: network.subnets[subnet.name].id for subnet in public},
        "route_table_ids": {name: table.id for name, table in network.tables.items()},
        "hub_id": network.hub.gateway.id,
        "hub_asn": spec.asn,
        "hub_addresses": [],
        "hub_table_ids": {name: table.id for name, table in network.hub.tables.items()},
        "zone_id": network.zone.id,
        "zone_name": spec.zone_name,
        "bucket": bucket_name(fleet, region),
        "key_arn": bucket.key.arn,
        "endpoint_ids": {name: endpoint.id for name, endpoint in network.endpoints.items()},
        "shares_id": shares.files.id,
        "share_ids": {name: point.id for name, point in shares.points.items()},
        "home_ids": {name: point.id for name, point in shares.homes.items()},
        "share_addresses": shares_addresses,
        "ssh": ssh,
    }


def _people(world: World, owner: Owner, key_arn: pulumi.Input[str], opts: ResourceOptions) -> SshOutputs:
    """Registers the region's authority where certificates let people in, and gives what is published."""
    if not served(world.fleet, owner.stack):
        return {}
    made = PeopleAuthority("people", {"fleet": world.fleet, "owner": owner, "key_arn": key_arn}, with_keys(opts))
    return {"authority": made.line, "authority_secret": authority_place(world.fleet.fleet)}
