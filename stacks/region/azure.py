"""A region on Azure: its resource group, its network, the fleet bucket and vault, the shares."""

import os

import pulumi
import pulumi_azure_native as azure
from pulumi import ResourceOptions

from components.alarms.azure.receivers import Receivers
from components.boot.azure.authority import PeopleAuthority
from components.links.azure.connections import inside_addresses
from components.network.azure.endpoints import BLOB, VAULT, Endpoint
from components.network.azure.network import Network
from components.network.azure.spec import network_spec
from components.network.azure.subnets import ENDPOINTS
from components.storage.azure.storage import Bucket, Shares
from components.storage.shares import shares_spec
from components.tags import Owner
from fleet.buckets import RECOVER, bucket_name, resource_group, vault_name
from fleet.logins import served
from fleet.world import World

from .. import providers
from ..catalogue import StackSpec
from ..outputs import RegionOutputs, SshOutputs
from .ssh import with_keys


def build(world: World, stack: StackSpec) -> RegionOutputs:
    """Registers the region's resources, and gives what it publishes."""
    fleet, region = world.fleet, stack.region
    owner = Owner(fleet.fleet, fleet.owner, stack.name)
    provider = providers.azure(fleet, region)
    opts = ResourceOptions(providers={"azure-native": provider})
    spec = network_spec(fleet, world.plan, region)
    group = azure.resources.ResourceGroup(
        "group",
        resource_group_name=resource_group(fleet, region),
        location=region,
        tags=owner.tags("group"),
        opts=ResourceOptions(provider=provider, protect=True),
    ).name
    recover = os.environ.get(RECOVER) == vault_name(fleet, region)
    bucket = Bucket(
        "bucket", {"fleet": fleet, "region": region, "owner": owner, "group": group, "recover": recover}, opts
    )
    network = Network(
        "network",
        {
            "spec": spec,
            "owner": owner,
            "group": group,
            "flow_log_account_id": bucket.account.id,
            "inside": inside_addresses(fleet, world.plan, region),
        },
        opts,
    )
    endpoints = {
        service.group: Endpoint(
            f"endpoint-{service.group}",
            {
                "region": region,
                "service": service,
                "target_id": target.id,
                "network_id": network.network.id,
                "subnet_id": network.subnet_ids[ENDPOINTS],
                "group": group,
                "owner": owner,
            },
            opts,
        )
        for service, target in ((BLOB, bucket.account), (VAULT, bucket.vault))
    }
    shares = Shares(
        "shares",
        {
            "fleet": fleet,
            "region": region,
            "spec": shares_spec(fleet),
            "owner": owner,
            "group": group,
            "network_id": network.network.id,
            "subnet_id": network.subnet_ids[f"fixed-{spec.shares_zone}"],
            "address": spec.shares_address,
        },
        opts,
    )
    if fleet.cloud_alarms:
        Receivers("alarms", {"fleet": fleet, "group": group, "owner": owner}, opts)
    return {
        "cloud": "azure",
        "network_id": network.network.id,
        "network_cidr": spec.cidr,
        "private_subnet_ids": {zone: network.subnet_ids[f"private-{zone}"] for zone in spec.zones},
        "fixed_subnet_ids": {zone: network.subnet_ids[f"fixed-{zone}"] for zone in spec.zones},
        "public_subnet_ids": {zone: network.subnet_ids[f"public-{zone}"] for zone in spec.zones},
        "route_table_ids": {name: table.id for name, table in network.tables.items()},
        "hub_id": network.hub.gateway.id,
        "hub_asn": spec.asn,
        "hub_addresses": [address.ip_address for address in network.hub.addresses],
        "hub_table_ids": {},
        "zone_id": network.zone.id,
        "zone_name": spec.zone_name,
        "bucket": bucket_name(fleet, region),
        "key_arn": "",
        "endpoint_ids": {name: endpoint.endpoint.id for name, endpoint in endpoints.items()},
        "shares_id": shares.account.id,
        "share_ids": {name: share.id for name, share in shares.shares.items()},
        "home_ids": {},
        "share_addresses": dict.fromkeys(spec.zones, spec.shares_address),
        "ssh": _people(world, owner, bucket.vault_operators, opts),
    }


def _people(world: World, owner: Owner, operators: pulumi.Resource, opts: ResourceOptions) -> SshOutputs:
    """Registers the region's authority where certificates let people in, and gives what is published."""
    if not served(world.fleet, owner.stack):
        return {}
    made = PeopleAuthority(
        "people",
        {"fleet": world.fleet, "region": owner.stack, "owner": owner, "operators": operators},
        with_keys(opts),
    )
    return {"authority": made.line, "authority_secret": made.place}
