"""A pool: the machines of one kind that a cluster has in one region or at one site.

The way from the pool's region to the cluster's home is the links' to build, for all pools and clusters alike: nodes
talk to each other and to the API by addresses of regions, and every region's network leads those to its hub.
"""

from collections.abc import Awaitable, Callable
from importlib import import_module

import pulumi

from components.pools.spec import PoolSpec, pool_spec
from fleet.world import World

from ..catalogue import StackSpec
from ..outputs import PoolOutputs, SitePoolOutputs, publishing

AnyPoolOutputs = PoolOutputs | SitePoolOutputs


def program(world: World, stack: StackSpec) -> None:
    """Registers the pool's resources and publishes `PoolOutputs`, or `SitePoolOutputs` for a site's."""
    pulumi.run(lambda: publishing(build(world, stack)))


async def build(world: World, stack: StackSpec) -> AnyPoolOutputs:
    """Registers them, and gives what is published. Raises RunError."""
    spec = pool_spec(world.fleet, world.plan, stack.name)
    place = "site" if spec.site else world.fleet.regions[spec.place].cloud
    build: Callable[[World, str, PoolSpec], Awaitable[AnyPoolOutputs]] = import_module(f".{place}", __package__).build
    return await build(world, stack.region, spec)
