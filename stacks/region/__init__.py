"""A region: its network, the fleet bucket, the shares."""

from collections.abc import Callable
from importlib import import_module

import pulumi

from components.links.trace import unreachable
from fleet.world import World

from ..catalogue import StackSpec
from ..outputs import RegionOutputs, publishing


def program(world: World, stack: StackSpec) -> None:
    """Registers the region's resources and publishes `RegionOutputs`."""
    pulumi.run(lambda: publishing(build(world, stack)))


async def build(world: World, stack: StackSpec) -> RegionOutputs:
    """Registers them, and gives what is published. Raises RunError for a port that nobody reaches."""
    fleet, region = world.fleet, stack.region
    if failures := unreachable(fleet, world.plan, region):
        raise pulumi.RunError("\n".join(["by the plan no packet gets through for the port matrix:", *failures]))
    # A cloud's SDK is imported where the fleet has that cloud: some are large, and not installed everywhere.
    build: Callable[[World, StackSpec], RegionOutputs]
    build = import_module(f".{fleet.regions[region].cloud}", __package__).build
    return build(world, stack)
