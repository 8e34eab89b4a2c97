"""A region's shares as the stacks that mount them take them: of EFS handles of access points, out of the region's
outputs; of Azure Files what the fleet's names and its plan say, once the region publishes them.
"""

from typing import Any

import pulumi

from components.network.azure.spec import network_spec
from components.storage.mounts import Files, FileSystem, RegionFiles, files_of
from fleet.buckets import in_azure
from fleet.shares import HOMES
from fleet.world import World

from ..outputs import RegionOutputs, region_outputs


async def file_system(world: World, region: str) -> RegionFiles:
    """Raises RunError in an update when the region's stack lacks a share or an access point."""
    outputs = await region_outputs(region)
    return _azure(world, region, outputs) if in_azure(world.fleet, region) else _aws(world, region, outputs)


def _aws(world: World, region: str, outputs: RegionOutputs) -> FileSystem:
    fleet, zones = world.fleet, world.plan.region(region).zones
    people = fleet.people if HOMES in fleet.storage.shares else {}
    return FileSystem(
        region,
        {share: _handle(outputs["shares_id"], outputs["share_ids"][share]) for share in fleet.storage.shares},
        {person: _handle(outputs["shares_id"], outputs["home_ids"][person]) for person in people},
        zones[min(zones)].addresses["shares"],
    )


def _azure(world: World, region: str, outputs: RegionOutputs) -> Files:
    for share in world.fleet.storage.shares:
        outputs["share_ids"][share]
    return files_of(world.fleet, region, network_spec(world.fleet, world.plan, region).shares_address)


def _handle(files: Any, point: Any) -> Any:
    """A text, or an unknown output in a preview of a region that is not there yet."""
    if isinstance(files, str) and isinstance(point, str):
        return f"{files}::{point}"
    return pulumi.Output.concat(files, "::", point)


def after(files: RegionFiles, value: pulumi.Input[str]) -> pulumi.Input[str]:
    """The value, unknown for as long as a handle is: what is made from both is made once both are there."""
    handles = (*files.shares.values(), *files.homes.values()) if isinstance(files, FileSystem) else ()
    unknown = [one for one in handles if not isinstance(one, str)]
    return pulumi.Output.all(value, *unknown).apply(lambda found: str(found[0])) if unknown else value
