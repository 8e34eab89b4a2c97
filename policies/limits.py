"""What an organization allows, whatever a fleet file says: by the configuration that the pack is given."""

from collections.abc import Iterator, Mapping
from typing import Any

from fleet.world import World

from .aws.pools import GROUP
from .azure.pools import SCALE_SET
from .boot import POOL
from .reading import AZURE, UNKNOWN, Finding, Item, finding, of_types, tag, undecidable

NAME, DESCRIPTION = "limits", "Regions and numbers of machines are those that the pack's configuration allows."
REGIONS, MACHINES = "regions", "max_machines"
# The engine compares a configuration with this before it asks.
SCHEMA: dict[str, dict[str, Any]] = {
    REGIONS: {"type": "array", "items": {"type": "string"}},
    MACHINES: {"type": "integer", "minimum": 0},
}
# Of names and the like, which Azure keeps in no region.
EVERYWHERE = "global"


def findings(found: list[Item], world: World, config: Mapping[str, Any]) -> Iterator[Finding]:
    """`config` holds settings of SCHEMA; one that is left out refuses nothing."""
    yield from _unknown_settings(config)
    if (regions := config.get(REGIONS)) is not None:
        for item in found:
            yield from _region(item, world, [str(one) for one in regions])
    if (most := config.get(MACHINES)) is not None:
        for item in of_types(found, (GROUP, SCALE_SET)):
            yield from _machines(item, world, int(most))


def _unknown_settings(config: Mapping[str, Any]) -> Iterator[Finding]:
    """A setting that is spelled wrong would limit nothing, and nobody would know."""
    for name in config:
        if name not in SCHEMA:
            what = f"the configuration of {NAME} sets {name}, which is no setting of it"
            yield Finding("policy", NAME, "", name, what, f"These are: {', '.join(SCHEMA)}")


def _region(item: Item, world: World, allowed: list[str]) -> Iterator[Finding]:
    region = _where(item, world)
    if region not in (None, EVERYWHERE, *allowed):
        what = f"it stands in {region}, and the configuration of {NAME} allows {', '.join(allowed) or 'no region'}"
        yield finding(item, REGIONS, what, "Take another region in the fleet file, or have that one allowed")


def _where(item: Item, world: World) -> str | None:
    """As the program says it, else by the stack; None for what stands in no region, or in several."""
    said = item.props.get("location" if item.type.startswith(AZURE) else "region")
    if isinstance(said, str):
        return said
    fleet, stack = world.fleet, item.stack
    if stack in fleet.regions:
        return stack
    entry = fleet.clusters.get(stack) or fleet.pools.get(stack)
    return entry.region if entry else None


def _machines(item: Item, world: World, most: int) -> Iterator[Finding]:
    """By the fleet file for pools: of a scale set only that says how far it may grow."""
    name = tag(item, POOL)
    pool = None if name is UNKNOWN else world.fleet.pools.get(str(name))
    asked = pool.max if pool else item.props.get("maxSize")
    if name is UNKNOWN or asked is UNKNOWN:
        yield undecidable(item, f"tags.{POOL}" if name is UNKNOWN else "maxSize")
    elif asked is not None and asked > most:
        whose = f"pool {name}" if pool else "it"
        what = f"{whose} may have {asked} machines, and the configuration of {NAME} allows {most}"
        yield finding(item, MACHINES, what, "Lower the pool's max in the fleet file, or have more allowed")
