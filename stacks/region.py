"""A region: its network, the fleet bucket, the shares."""

from collections.abc import Callable

from fleet.model import Cloud
from fleet.world import World

from . import region_aws, region_azure
from .catalogue import StackSpec
from .outputs import RegionOutputs, publish

BUILDERS: dict[Cloud, Callable[[World, StackSpec], RegionOutputs]] = {
    "aws": region_aws.build,
    "azure": region_azure.build,
}


def program(world: World, stack: StackSpec) -> None:
    """Registers the region's resources, publishes `RegionOutputs`. Raises RunError for a port that nobody reaches."""
    publish(BUILDERS[world.fleet.regions[stack.region].cloud](world, stack))
