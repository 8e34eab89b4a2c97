"""A pool in a region of AWS: scaling groups."""

from pulumi import ResourceOptions

from components.boot import hosts
from components.pools.aws import image
from components.pools.aws.hooks import COMPLETER
from components.pools.aws.pool import Pool
from components.pools.firewall import rules
from components.pools.names import Names
from components.pools.spec import PoolSpec
from fleet.buckets import bucket_name
from fleet.logins import pools_host
from fleet.world import World

from ..outputs import PoolOutputs
from ..region.ssh import vouching
from .inputs import given, mounting


async def build(world: World, region: str, spec: PoolSpec) -> PoolOutputs:
    """Registers the pool's resources and gives what it publishes."""
    fleet = world.fleet
    here, cluster, owner, providers = await given(world, region, spec)
    spec, authority = await mounting(world, spec, cluster["authority"])
    await image.check(fleet, spec, providers["aws"])
    pool = Pool(
        "pool",
        {
            "fleet": fleet,
            "spec": spec,
            "owner": owner,
            "rules": rules(fleet, world.plan, spec),
            "network_id": here["network_id"],
            "subnet_ids": here["private_subnet_ids"],
            "key_arn": here["key_arn"],
            "authority": authority,
            "people_authority": vouching(world, here),
        },
        ResourceOptions(providers=providers),
    )
    return {
        "cloud": "aws",
        "region": region,
        "cluster": spec.cluster,
        "kubernetes": spec.kubernetes,
        "kind": spec.kind,
        "groups": {key: group.name for key, group in pool.groups.items()},
        "completer": COMPLETER,
        "role": Names(fleet).role(spec.name),
        "firewall_id": pool.firewall.id,
        "bucket": bucket_name(fleet, region),
        "prefix": spec.prefix,
        "known_hosts": hosts.known(pool.hosts, [pools_host(fleet, region)]),
    }
