"""A pool in a region of Azure: scale sets."""

import pulumi
from pulumi import ResourceOptions

from components.boot import people
from components.pools import image
from components.pools.azure import Pool
from components.pools.firewall import rules
from components.pools.names import Names
from components.pools.spec import PoolSpec
from components.storage.mounts import nfs
from fleet.buckets import bucket_name
from fleet.world import World

from .outputs import publish
from .pool_parts import given


async def build(world: World, region: str, spec: PoolSpec) -> None:
    """Registers the pool's resources and publishes `PoolOutputs`. Raises RunError for what is not built in Azure."""
    fleet = world.fleet
    if why := _lacking(world, spec):
        raise pulumi.RunError(f"pool {spec.name} in {region}: {why}")
    here, cluster, owner, providers = await given(world, region, spec)
    pool = Pool(
        "pool",
        {
            "fleet": fleet,
            "spec": spec,
            "owner": owner,
            "rules": rules(fleet, world.plan, spec),
            "subnet_ids": here["private_subnet_ids"],
            "authority": cluster["authority"],
            "image": await image.in_azure(fleet, spec, providers["azure-native"]),
        },
        ResourceOptions(providers=providers),
    )
    publish(
        {
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
            "known_hosts": "",
        }
    )


def _lacking(world: World, spec: PoolSpec) -> str:
    """Of machines that people log in to: what AWS has and Azure has not yet."""
    if people.shows(world.fleet, spec.logins):
        return "people's certificates are not built in Azure yet. Let keys let them in, or log in elsewhere"
    if spec.kind == "ssh" and world.fleet.storage.shares and not nfs(world.fleet, spec.cluster):
        return "its machines would mount shares, which only a site's server has for them. Log in elsewhere"
    return ""
