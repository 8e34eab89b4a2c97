"""Route tables and their routes."""

from typing import Any

from .. import ids
from ..kinds import SLOW, Kind, World, Write
from ..store import Resource
from . import common
from .security import TAG

TABLE, ROUTE = "Microsoft.Network/routeTables", "Microsoft.Network/routeTables/routes"
HOPS = ("VirtualNetworkGateway", "VnetLocal", "Internet", "VirtualAppliance", "None")


def _table(turn: Write) -> None:
    common.name(turn)
    turn.properties.setdefault("disableBgpRoutePropagation", False)
    common.guid(turn)


def _route(turn: Write) -> None:
    common.name(turn)
    properties = turn.properties
    prefix = str(properties.get("addressPrefix") or "")
    if not TAG.fullmatch(prefix):
        common.network(prefix, turn.id.text)
    hop = common.pick(turn, properties, "nextHopType", HOPS)
    address = properties.get("nextHopIpAddress")
    if (hop == "VirtualAppliance") != bool(address):
        raise common.invalid(
            f"{turn.id.text}: nextHopIpAddress goes with nextHopType VirtualAppliance, and with it only."
        )
    if address:
        common.network(f"{address}/32", turn.id.text)
    for other in turn.siblings:
        if other.properties["addressPrefix"] == prefix:
            raise common.invalid(f"{turn.id.text} and {other.id.name} have the same address prefix {prefix}.")
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
