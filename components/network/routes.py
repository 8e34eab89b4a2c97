"""Route tables of a region's network: the fleet's aggregates go to the hub, the rest to the internet."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from fleet.address.plan import RegionPlan
from fleet.model import Region

from .subnets import nat_zone

INTERNET = "0.0.0.0/0"
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
    """One route for each region, site and cluster but the region itself, to the hub gateway."""
    others = {name: cidr for name, cidr in aggregates.items() if name != f"region/{region_name}"}
    return tuple(Route(name.replace("/", "-"), cidr, "hub") for name, cidr in sorted(others.items()))


def route_tables(region_name: str, region: Region, plan: RegionPlan, aggregates: Mapping[str, str]) -> list[RouteTable]:
    """One public table; one private table for each NAT gateway."""
    inside = fleet_routes(region_name, aggregates)
    zones = tuple(sorted(region.zones))
    out = Route("internet", INTERNET, "nat")
    tables = [
        RouteTable("public", public=True, zones=zones, nat_zone=None, routes=(out._replace(target="internet"), *inside))
    ]
    if region.nat == "one":
        return [
            *tables,
            RouteTable("private", public=False, zones=zones, nat_zone=nat_zone(plan), routes=(out, *inside)),
        ]
    return [
        *tables,
        *(RouteTable(f"private-{z}", public=False, zones=(z,), nat_zone=z, routes=(out, *inside)) for z in zones),
    ]
