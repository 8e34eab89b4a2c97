"""What the stacks of all pools read and call with, wherever their machines are."""

from typing import Any, NamedTuple

import pulumi
import pulumi_tls as tls

from components.pools.spec import PoolSpec, pool_spec
from components.storage.mounts import nfs
from components.tags import Owner
from fleet.world import World

from .. import providers
from ..cluster import versions
from ..outputs import ClusterOutputs, RegionOutputs, cluster_outputs, region_outputs
from ..region.shares import after, file_system


class Given(NamedTuple):
    """`here` is the region that the stack stands in; `providers` are that region's cloud's and tls."""

    here: RegionOutputs
    cluster: ClusterOutputs
    owner: Owner
    providers: dict[str, Any]


async def given(world: World, region: str, spec: PoolSpec) -> Given:
    """Raises RunError where another stack's outputs are missing, or the cluster's API has yet to take its version."""
    fleet = world.fleet
    here, cluster = await region_outputs(region), await cluster_outputs(spec.cluster)
    made = {providers.NAMES[fleet.regions[region].cloud]: providers.of(fleet, region), "tls": tls.Provider("tls")}
    if spec.kind != "ssh":  # no kubelet is on those
        home = fleet.clusters[spec.cluster].region
        # Who looks at the cluster's machines speaks to their cloud.
        theirs = made.get(providers.NAMES[fleet.regions[home].cloud]) or providers.of(fleet, home)
        await versions.check_follows(world, spec.name, spec.cluster, theirs)
    return Given(here, cluster, Owner(fleet.fleet, spec.owner, spec.name), made)


async def mounting(world: World, spec: PoolSpec, authority: pulumi.Input[str]) -> tuple[PoolSpec, pulumi.Input[str]]:
    """The pool with its mounts. While EFS is not there the bundle is unknown, as its authority is then."""
    if spec.kind != "ssh" or not world.fleet.storage.shares or nfs(world.fleet, spec.cluster):
        return spec, authority
    files = await file_system(world, world.fleet.clusters[spec.cluster].region)
    return pool_spec(world.fleet, world.plan, spec.name, files), after(files, authority)
