"""A pool in a region of Azure: scale sets."""

from pulumi import ResourceOptions

from components.boot import hosts
from components.pools.azure.image import image
from components.pools.azure.pool import Pool
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
    """Registers the pool's resources and gives what it publishes. Raises RunError where there is no image that fits."""
    fleet = world.fleet
    here, cluster, owner, providers = await given(world, region, spec)
    spec, authority = await mounting(world, spec, cluster["authority"])
    pool = Pool(
        "pool",
        {
            "fleet": fleet,
            "spec": spec,
            "owner": owner,
            "rules": rules(fleet, world.plan, spec),
            "subnet_ids": here["private_subnet_ids"],
            "authority": authority,
            "image": await image(fleet, spec, providers["azure-native"]),
            "people_authority": vouching(world, here),
        },
        ResourceOptions(providers=providers),
    )
    return {
        "cloud": "azure",
        "region": region,
        "cluster": spec.cluster,
        "kubernetes": spec.kubernetes,
        "kind": spec.kind,
        "groups": {key: made.name for key, made in pool.groups.items()},
        "completer": "",
        "role": Names(fleet).role(spec.name),
        "firewall_id": pool.firewall.id,
        "bucket": bucket_name(fleet, region),
        "prefix": spec.prefix,
        "known_hosts": hosts.known(pool.hosts, [pools_host(fleet, region)]),
    }
