"""Private zones, as `local.supervisor.names` reads them: the networks they are linked with, names with addresses."""

from collections.abc import Iterator
from typing import Any

from . import ids
from .kinds import World
from .network_state import router
from .resources.private_zones import LINK, ZONE, sets
from .store import Resource


def zones(world: World) -> Iterator[dict[str, Any]]:
    """`records` are name, no alias, addresses."""
    for zone in world.store.all(ZONE):
        linked = [one.properties["virtualNetwork"]["id"] for one in world.store.children(zone, LINK)]
        records = [list(one) for record in sets(world, zone) for one in _records(zone, record)]
        yield {"name": zone.id.name.lower(), "vpcs": [router(one) for one in linked], "records": records}


def _records(zone: Resource, record: Resource) -> Iterator[tuple[str, None, list[str]]]:
    if ids.same(record.id.types[-1], "A"):
        name = zone.id.name if record.id.name == "@" else f"{record.id.name}.{zone.id.name}"
        yield name.lower(), None, [one["ipv4Address"] for one in record.properties["aRecords"]]
