"""What joins the regions of a fleet. So far their names; tunnels and peerings are to come."""

import pulumi
import pulumi_aws as aws

from components.links.aws import Links, RegionEnd
from fleet.world import World

from .catalogue import StackSpec
from .outputs import publish, region_outputs


def program(world: World, stack: StackSpec) -> None:
    """Registers the links of all regions and publishes `LinksOutputs`."""
    pulumi.run(lambda: _program(world, stack))


async def _program(world: World, stack: StackSpec) -> None:
    fleet = world.fleet
    assert fleet.aws is not None  # fleet.rules: no region in AWS without an account
    ends: dict[str, RegionEnd] = {}
    for region in stack.depends_on:
        try:
            outputs = await region_outputs(region)
        except LookupError as error:
            raise pulumi.RunError(str(error)) from None
        ends[region] = {
            "provider": aws.Provider(region, region=region, allowed_account_ids=[fleet.aws.account_id]),
            "network_id": outputs["network_id"],
            "zone_id": outputs["zone_id"],
        }
    Links("links", {"regions": ends})
    publish({"regions": list(ends)})
