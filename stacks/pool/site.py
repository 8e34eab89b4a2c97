"""A pool at a site: its bundle, in the fleet bucket of its cluster's home."""

from pulumi import ResourceOptions

from components.pools.site.pool import SitePool
from components.pools.spec import PoolSpec
from fleet.world import World

from ..outputs import SitePoolOutputs
from ..region.ssh import vouching
from .inputs import given, mounting


async def build(world: World, region: str, spec: PoolSpec) -> SitePoolOutputs:
    """Registers the pool's resources and gives what it publishes; `region` is the cluster's home."""
    here, cluster, owner, providers = await given(world, region, spec)
    spec, authority = await mounting(world, spec, cluster["authority"])
    pool = SitePool(
        "pool",
        {
            "fleet": world.fleet,
            "plan": world.plan,
            "spec": spec,
            "owner": owner,
            "key_arn": here["key_arn"],
            "authority": authority,
            "people_authority": vouching(world, here),
        },
        ResourceOptions(providers=providers),
    )
    return {
        "site": spec.place,
        "region": region,
        "cluster": spec.cluster,
        "kubernetes": spec.kubernetes,
        "kind": spec.kind,
        "hosts": list(spec.hosts),
        "bucket": pool.bucket,
        "prefix": spec.prefix,
        "own_prefixes": pool.own_prefixes,
        "verify_key": pool.verify_key,
    }
