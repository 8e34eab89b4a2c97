"""Everything a region's network on AWS is, as plain data."""

from typing import NamedTuple

from fleet import hubs
from fleet.address.plan import AddressPlan
from fleet.model import Fleet

from .. import ports, resolver, routes
from . import endpoints, subnets


class NetworkSpec(NamedTuple):
    """`block` is the region's one route.

    `resolver` is where the region is asked for names, `outbound` from where it asks for those in `forwards`.
    """

    region: str
    block: str
    cidr: str
    zone_name: str
    asn: int
    subnets: tuple[subnets.Subnet, ...]
    route_tables: tuple[routes.RouteTable, ...]
    groups: tuple[ports.Group, ...]
    endpoints: tuple[endpoints.Endpoint, ...]
    resolver: tuple[resolver.Answering, ...]
    outbound: tuple[resolver.Answering, ...]
    forwards: tuple[resolver.Forward, ...]


def network_spec(fleet: Fleet, plan: AddressPlan, region_name: str) -> NetworkSpec:
    region, region_plan = fleet.regions[region_name], plan.region(region_name)
    prefixes = ports.sources(fleet, plan, region_name)
    return NetworkSpec(
        region=region_name,
        block=region_plan.block,
        cidr=region_plan.network,
        zone_name=f"{region_name}.{fleet.domain}",
        asn=hubs.asn(region_name),
        subnets=tuple(subnets.subnets(region, region_plan)),
        route_tables=tuple(routes.route_tables(region_name, region, region_plan, plan.aggregates())),
        groups=tuple(ports.groups(prefixes, fleet.ingress)),
        endpoints=endpoints.ENDPOINTS,
        resolver=resolver.answering(region_plan),
        outbound=resolver.outbound(region_plan),
        forwards=resolver.forwards(fleet, plan, region_name),
    )
