"""A region's shares as the stacks that mount them take them: handles of access points, out of the region's outputs."""

from typing import Any

import pulumi

from components.storage.mounts import FileSystem
from fleet.shares import HOMES
from fleet.world import World

from .outputs import region_outputs


async def file_system(world: World, region: str) -> FileSystem:
    """Raises LookupError in an update when the region's stack lacks an access point."""
    outputs, fleet = await region_outputs(region), world.fleet
    zones = world.plan.region(region).zones
    people = fleet.people if HOMES in fleet.storage.shares else {}
    return FileSystem(
        region,
        {share: _handle(outputs["shares_id"], outputs["share_ids"][share]) for share in fleet.storage.shares},
        {person: _handle(outputs["shares_id"], outputs["home_ids"][person]) for person in people},
        zones[min(zones)].addresses["shares"],
    )


def _handle(files: Any, point: Any) -> Any:
    """A text, or an unknown output in a preview of a region that is not there yet."""
    if isinstance(files, str) and isinstance(point, str):
        return f"{files}::{point}"
    return pulumi.Output.concat(files, "::", point)


def after(files: FileSystem, value: pulumi.Input[str]) -> pulumi.Input[str]:
    """The value, unknown for as long as a handle is: what is made from both is made once both are there."""
    handles = (*files.shares.values(), *files.homes.values())
    unknown = [one for one in handles if not isinstance(one, str)]
    return pulumi.Output.all(value, *unknown).apply(lambda found: str(found[0])) if unknown else value
