"""A pool in a cloud: the machines of one kind that a cluster has in one region.

The way from the pool's region to the cluster's home is the links' to build, for all pools and clusters alike: nodes
talk to each other and to the API by addresses of regions, and every region's network leads those to its hub.
"""

from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_tls as tls
from pulumi import ResourceOptions

from components.pools import image
from components.pools.aws import Pool
from components.pools.firewall import rules
from components.pools.hooks import COMPLETER
from components.pools.names import Names
from components.pools.spec import pool_spec
from components.storage.bucket import bucket_name
from components.tags import Owner
from fleet.world import World

from .catalogue import StackSpec
from .outputs import cluster_outputs, publish, region_outputs


def program(world: World, stack: StackSpec) -> None:
    """Registers the pool's resources and publishes `PoolOutputs`."""
    pulumi.run(lambda: _program(world, stack))


async def _program(world: World, stack: StackSpec) -> None:
    fleet, region = world.fleet, stack.region
    assert fleet.aws is not None  # fleet.rules: no region in AWS without an account
    spec = pool_spec(fleet, world.plan, stack.name)
    try:
        here, cluster = await region_outputs(region), await cluster_outputs(spec.cluster)
    except LookupError as error:
        raise pulumi.RunError(str(error)) from None
    providers: dict[str, Any] = {
        "aws": aws.Provider(region, region=region, allowed_account_ids=[fleet.aws.account_id]),
        "tls": tls.Provider("tls"),
    }
    await image.check(fleet, spec, providers["aws"])
    pool = Pool(
        "pool",
        {
            "fleet": fleet,
            "spec": spec,
            "owner": Owner(fleet.fleet, spec.owner, stack.name),
            "rules": rules(fleet, world.plan, spec),
            "network_id": here["network_id"],
            "subnet_ids": here["private_subnet_ids"],
            "key_arn": here["key_arn"],
            "authority": cluster["authority"],
        },
        ResourceOptions(providers=providers),
    )
    publish(
        {
            "cloud": "aws",
            "region": region,
            "cluster": spec.cluster,
            "kind": spec.kind,
            "groups": {key: group.name for key, group in pool.groups.items()},
            "completer": COMPLETER,
            "role": Names(fleet).role(stack.name),
            "firewall_id": pool.firewall.id,
            "bucket": bucket_name(fleet, region),
            "prefix": spec.prefix,
        }
    )
