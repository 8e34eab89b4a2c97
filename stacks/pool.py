"""A pool: the machines of one kind that a cluster has in one region or at one site.

The way from the pool's region to the cluster's home is the links' to build, for all pools and clusters alike: nodes
talk to each other and to the API by addresses of regions, and every region's network leads those to its hub.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_tls as tls
from pulumi import ResourceOptions

from components.boot import hosts
from components.pools import image
from components.pools.aws import Pool
from components.pools.firewall import rules
from components.pools.hooks import COMPLETER
from components.pools.names import Names
from components.pools.site import SitePool
from components.pools.spec import PoolSpec, pool_spec
from components.storage.mounts import nfs
from components.tags import Owner
from fleet.buckets import bucket_name
from fleet.logins import pools_host
from fleet.world import World

from . import versions
from .catalogue import StackSpec
from .outputs import ClusterOutputs, RegionOutputs, cluster_outputs, publish, region_outputs
from .shares import after, file_system
from .ssh import vouching


def program(world: World, stack: StackSpec) -> None:
    """Registers the pool's resources and publishes `PoolOutputs`, or `SitePoolOutputs` for a site's."""
    spec = pool_spec(world.fleet, world.plan, stack.name)
    pulumi.run(lambda: PLACES["site" if spec.site else "aws"](world, stack.region, spec))


async def _in_aws(world: World, region: str, spec: PoolSpec) -> None:
    fleet = world.fleet
    here, cluster, owner, providers = await _given(world, region, spec)
    spec, authority = await _mounting(world, spec, cluster["authority"])
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
    publish(
        {
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
    )


async def _at_site(world: World, region: str, spec: PoolSpec) -> None:
    """`region` is the cluster's home, whose bucket has the bundle."""
    here, cluster, owner, providers = await _given(world, region, spec)
    spec, authority = await _mounting(world, spec, cluster["authority"])
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
    publish(
        {
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
    )


async def _given(
    world: World, region: str, spec: PoolSpec
) -> tuple[RegionOutputs, ClusterOutputs, Owner, dict[str, Any]]:
    """What every pool's stack reads and calls with."""
    fleet = world.fleet
    assert fleet.aws is not None  # fleet.rules: no region in AWS without an account
    try:
        here, cluster = await region_outputs(region), await cluster_outputs(spec.cluster)
    except LookupError as error:
        raise pulumi.RunError(str(error)) from None
    providers: dict[str, Any] = {
        "aws": aws.Provider(region, region=region, allowed_account_ids=[fleet.aws.account_id]),
        "tls": tls.Provider("tls"),
    }
    if spec.kind != "ssh":  # no kubelet is on those
        await versions.check_follows(world, spec.name, spec.cluster, providers["aws"])
    return here, cluster, Owner(fleet.fleet, spec.owner, spec.name), providers


async def _mounting(world: World, spec: PoolSpec, authority: pulumi.Input[str]) -> tuple[PoolSpec, pulumi.Input[str]]:
    """The pool with its mounts. While EFS is not there the bundle is unknown, as its authority is then."""
    if spec.kind != "ssh" or not world.fleet.storage.shares or nfs(world.fleet, spec.cluster):
        return spec, authority
    try:
        files = await file_system(world, world.fleet.clusters[spec.cluster].region)
    except LookupError as error:
        raise pulumi.RunError(str(error)) from None
    return pool_spec(world.fleet, world.plan, spec.name, files), after(files, authority)


PLACES: dict[str, Callable[[World, str, PoolSpec], Awaitable[None]]] = {"aws": _in_aws, "site": _at_site}
