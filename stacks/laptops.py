"""The servers that people's laptops come into a region by."""

import pulumi
import pulumi_aws as aws
import pulumi_random as random
import pulumi_tls as tls
from pulumi import ResourceOptions

from components.boot import hosts
from components.links.laptops.aws import Laptops
from components.links.laptops.nodes import owner
from components.links.laptops.spec import laptops_spec
from fleet import laptops
from fleet.world import World

from .catalogue import StackSpec
from .outputs import cluster_outputs, publish, region_outputs
from .ssh import vouching


def program(world: World, stack: StackSpec) -> None:
    """Registers servers and authority, and publishes `LaptopsOutputs`."""
    pulumi.run(lambda: _in_aws(world, stack))


async def _in_aws(world: World, stack: StackSpec) -> None:
    fleet, region = world.fleet, stack.region
    assert fleet.aws is not None  # fleet.rules: no region in AWS without an account
    try:
        here, cluster = await region_outputs(region), await cluster_outputs(laptops.cluster(fleet, region) or "")
    except LookupError as error:
        raise pulumi.RunError(str(error)) from None
    spec = laptops_spec(fleet, world.plan, region)
    assert spec is not None  # the catalogue: no stack without servers
    providers: dict[str, pulumi.ProviderResource] = {
        "aws": aws.Provider(region, region=region, allowed_account_ids=[fleet.aws.account_id]),
        "tls": tls.Provider("tls"),
        "random": random.Provider("random"),
    }
    made = Laptops(
        "laptops",
        {
            "fleet": fleet,
            "spec": spec,
            "owner": owner(fleet, region),
            "supernet": world.plan.supernet,
            "network_id": here["network_id"],
            "subnet_ids": here["public_subnet_ids"],
            "table_ids": here["route_table_ids"],
            "zone_id": here["zone_id"],
            "key_arn": here["key_arn"],
            "cluster_authority": cluster["authority"],
            "people_authority": vouching(world, here),
        },
        ResourceOptions(providers=providers),
    )
    publish(
        {
            "region": region,
            "cluster": spec.node.cluster,
            "authority": made.authority.certificate,
            "authority_secret": laptops.authority_place(fleet.fleet),
            "known_hosts": hosts.known(made.hosts, [server.host for server in spec.servers]),
            "servers": {
                server.name: {
                    "zone": server.zone,
                    "host": server.host,
                    "address": made.servers[server.name].address,
                    "pool_cidr": server.pool_cidr,
                    "group": made.servers[server.name].group.name,
                }
                for server in spec.servers
            },
        }
    )
