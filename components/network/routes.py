"""Route tables of a region's network: regions and sites go to the hub, the rest to the internet.

Clusters come and go in stacks of their own and bring their routes along: a new one changes no region.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from fleet.address.plan import RegionPlan
from fleet.model import Region

INTERNET = "0.0.0.0/0"
PUBLIC = "public"
Target = Literal["internet", "nat", "hub"]


class Route(NamedTuple):
    """`name` is stable for what the route leads to, so that a new region adds a route and changes none."""

    name: str
    cidr: str
    target: Target


class RouteTable(NamedTuple):
    """`zones` are those whose subnets use the table; `nat_zone` is where its NAT gateway stands."""

    name: str
    public: bool
    zones: tuple[str, ...]
    nat_zone: str | None
    routes: tuple[Route, ...]


def fleet_routes(region_name: str, aggregates: Mapping[str, str]) -> tuple[Route, ...]:
    """One route for each region and site but the region itself, to the hub gateway."""
    places = {name: cidr for name, cidr in aggregates.items() if name.startswith(("region/", "site/"))}
    others = {name: cidr for name, cidr in places.items() if name != f"region/{region_name}"}
    return tuple(Route(name.replace("/", "-"), cidr, "hub") for name, cidr in sorted(others.items()))


def table_names(region: Region) -> dict[str, tuple[str, ...]]:
    """The region's route tables, each with its zones: one public, one private for each NAT gateway."""
    zones = tuple(sorted(region.zones))
    private = {"private": zones} if region.nat == "one" else {f"private-{zone}": (zone,) for zone in zones}
    return {PUBLIC: zones, **private}


def route_tables(region_name: str, region: Region, plan: RegionPlan, aggregates: Mapping[str, str]) -> list[RouteTable]:
    inside = fleet_routes(region_name, aggregates)
    return [
        RouteTable(
            name,
            public=name == PUBLIC,
            zones=zones,
            nat_zone=_nat_zone(name, zones, region, plan),
            routes=(Route("internet", INTERNET, "internet" if name == PUBLIC else "nat"), *inside),
        )
        for name, zones in table_names(region).items()
    ]


def nat_zone(plan: RegionPlan) -> str:
    """Where the only NAT gateway stands: the zone that the ledger has held longest, so that a new one moves nothing."""
    return next(iter(plan.zones))


def _nat_zone(table: str, zones: tuple[str, ...], region: Region, plan: RegionPlan) -> str | None:
    if table == PUBLIC:
        return None
    return nat_zone(plan) if region.nat == "one" else zones[0]
