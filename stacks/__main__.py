"""Every stack's program: the stack's name picks one from the catalogue."""

import gc
import sys
from pathlib import Path

import pulumi

from fleet import extras
from fleet.errors import FleetError
from fleet.where import path_for_engine
from fleet.world import World, current
from stacks import addons, cluster, engine_calls, laptops, links, pool, region
from stacks.catalogue import catalogue, no_stack

# As in Pulumi.yaml, which is not that of all projects.
ENGINES = ">=3.259.0 <4.0.0"
PROGRAMS = {
    "region": region.program,
    "links": links.program,
    "cluster": cluster.program,
    "laptops": laptops.program,
    "pool": pool.program,
    "addons": addons.program,
}


def main() -> None:
    # Reference cycles of thousands of Outputs make the collector walk the heap again and again: off, programs run
    # three times faster at 5,000 resources.
    gc.freeze()
    gc.disable()
    engine_calls.begin()
    if refused := wrong_engine():
        fail(refused)
    try:
        world = current(path_for_engine(Path(pulumi.get_root_directory())))
    except FleetError as error:
        fail(str(error))
    if lacking := list(extras.of_fleet(world.fleet, world.path.name)):
        fail("\n".join(lacking))
    pulumi.log.info(f"Fleet {world.fleet.fleet}: {world.path}")
    build(world, pulumi.get_stack())


def wrong_engine() -> str:
    """Why the engine that has started this is none for it; empty where it is one."""
    try:
        pulumi.require_pulumi_version(ENGINES)
    except Exception as error:  # the SDK has no other class for it
        return f"{error}. Landbridge needs Pulumi {ENGINES}"
    return ""


def build(world: World, name: str) -> None:
    stacks = {stack.name: stack for stack in catalogue(world.fleet)}
    if name not in stacks:
        fail(no_stack(world.fleet, world.path.name, name))
    PROGRAMS[stacks[name].kind](world, stacks[name])


def fail(message: str) -> None:
    pulumi.log.error(message)
    sys.exit(1)


main()
