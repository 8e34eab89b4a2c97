"""Route tables and their routes."""

from typing import Any

from .. import ids
from ..kinds import SLOW, Kind, World, Write
from ..store import Resource
from . import common
from .security import TAG

TABLE, ROUTE = "Microsoft.Network/routeTables", "Microsoft.Network/routeTables/routes"
HOPS = ("VirtualNetworkGateway", "VnetLocal", "Internet", "VirtualAppliance", "None")


def _table(write: Write) -> None:
    common.name(write)
    write.properties.setdefault("disableBgpRoutePropagation", False)
    common.guid(write)


def _route(write: Write) -> None:
    common.name(write)
    properties = write.properties
    prefix = str(properties.get("addressPrefix") or "")
    if not TAG.fullmatch(prefix):
        common.network(prefix, write.id.text)
    hop = common.pick(write, properties, "nextHopType", HOPS)
    address = properties.get("nextHopIpAddress")
    if (hop == "VirtualAppliance") != bool(address):
        raise common.invalid(
            f"{write.id.text}: nextHopIpAddress goes with nextHopType VirtualAppliance, and with it only."
        )
    if address:
        common.network(f"{address}/32", write.id.text)
    for other in write.siblings:
        if other.properties["addressPrefix"] == prefix:
            raise common.invalid(f"{write.id.text} and {other.id.name} have the same address prefix {prefix}.")
    properties["hasBgpOverride"] = False


def _computed(world: World, table: Resource) -> dict[str, Any]:
    users = [
        {"id": one.id.text}
        for one in world.store.all("Microsoft.Network/virtualNetworks/subnets")
        if ids.same((one.properties.get("routeTable") or {}).get("id"), table.id.text)
    ]
    return {"subnets": users} if users else {}


KINDS = (
    Kind(
        TABLE,
        check=_table,
        computed=_computed,
        subresources={"routes": ROUTE},
        known=frozenset(("routes", "disableBgpRoutePropagation")),
        read_only=("subnets", "resourceGuid"),
        slow=SLOW,
    ),
    Kind(
        ROUTE,
        tracked=False,
        check=_route,
        known=frozenset(("addressPrefix", "nextHopType", "nextHopIpAddress")),
        read_only=("hasBgpOverride",),
        serial=True,
        slow=SLOW,
    ),
)
