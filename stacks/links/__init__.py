"""What joins a fleet's regions with each other and with its sites."""

import pulumi
import pulumi_random as random
from pulumi import ResourceOptions

from components.links.ends import RegionEnd
from components.tags import Owner
from fleet.world import World

from ..catalogue import StackSpec
from ..outputs import ConnectionOutputs, LinksOutputs, publishing


def program(world: World, stack: StackSpec) -> None:
    """Registers the links of all regions and publishes `LinksOutputs`."""
    pulumi.run(lambda: publishing(build(world, stack)))


async def build(world: World, stack: StackSpec) -> LinksOutputs:
    """Registers them, and gives what is published."""
    fleet, clouds = world.fleet, {name: world.fleet.regions[name].cloud for name in stack.depends_on}
    owner = Owner(fleet.fleet, fleet.owner, stack.name)
    opts = ResourceOptions(providers={"random": random.Provider("random")})
    in_aws, in_azure = ([name for name in clouds if clouds[name] == cloud] for cloud in ("aws", "azure"))
    ends: dict[str, RegionEnd] = {}
    published: dict[str, ConnectionOutputs] = {}
    if in_aws:
        from . import aws

        ends = await aws.ends(world, in_aws)
        published |= aws.build(world, ends, owner, opts)
    if in_azure:
        from . import azure

        published |= await azure.build(world, in_azure, ends, owner, opts)
    return {"regions": list(clouds), "connections": published}
