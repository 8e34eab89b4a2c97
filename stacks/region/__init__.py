"""A region: its network, the fleet bucket, the shares."""

from collections.abc import Callable

import pulumi

from components.links.trace import unreachable
from fleet.model import Cloud
from fleet.world import World

from ..catalogue import StackSpec
from ..outputs import RegionOutputs, publishing
from . import aws, azure

BUILDERS: dict[Cloud, Callable[[World, StackSpec], RegionOutputs]] = {
    "aws": aws.build,
    "azure": azure.build,
}


def program(world: World, stack: StackSpec) -> None:
    """Registers the region's resources and publishes `RegionOutputs`."""
    pulumi.run(lambda: publishing(build(world, stack)))


async def build(world: World, stack: StackSpec) -> RegionOutputs:
    """Registers them, and gives what is published. Raises RunError for a port that nobody reaches."""
    fleet, region = world.fleet, stack.region
    if failures := unreachable(fleet, world.plan, region):
        raise pulumi.RunError("\n".join(["by the plan no packet gets through for the port matrix:", *failures]))
    return BUILDERS[fleet.regions[region].cloud](world, stack)
