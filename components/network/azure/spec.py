"""Everything a region's network on Azure is, as plain data."""

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import NamedTuple

from fleet import hubs, laptops
from fleet.address.plan import AddressPlan
from fleet.model import Fleet

from .. import ports, resolver, routes
from . import groups as azure_groups
from . import subnets as azure_subnets


class NetworkSpec(NamedTuple):
    """`nat_zones` are where NAT gateways stand; `shares_address` is that of the shares' endpoint, in `shares_zone`.

    `resolver` is where the region is asked for names, None where nobody asks; `forwards` is what it asks another cloud.
    """

    region: str
    cidr: str
    zone_name: str
    asn: int
    zones: tuple[str, ...]
    subnets: tuple[azure_subnets.Subnet, ...]
    tables: tuple[str, ...]
    nat_zones: tuple[str, ...]
    groups: Mapping[str, tuple[azure_groups.Rule, ...]]
    resolver: str | None
    forwards: tuple[resolver.Forward, ...]
    shares_zone: str
    shares_address: str


def network_spec(fleet: Fleet, plan: AddressPlan, region_name: str) -> NetworkSpec:
    region, here = fleet.regions[region_name], plan.region(region_name)
    prefixes = ports.sources(fleet, plan, region_name)
    oldest = routes.nat_zone(here)
    shares_address = here.zones[oldest].addresses["shares"]
    found = azure_subnets.subnets(region, here)
    groups = azure_groups.rules(
        ports.groups(prefixes, fleet.ingress),
        _places(plan),
        f"{shares_address}/32",
        laptops=laptops.served(fleet, region_name),
    )
    used = {subnet.group for subnet in found}
    return NetworkSpec(
        region=region_name,
        cidr=here.network,
        zone_name=f"{region_name}.{fleet.domain}",
        asn=hubs.asn(region_name),
        zones=tuple(sorted(region.zones)),
        subnets=tuple(found),
        tables=tuple(routes.table_names(region)),
        nat_zones=tuple(sorted({subnet.nat_zone for subnet in found if subnet.nat_zone})),
        groups={name: rules for name, rules in groups.items() if name in used},
        resolver=next(iter(resolver.answers(here)), None),
        forwards=resolver.forwards(fleet, plan, region_name),
        shares_zone=oldest,
        shares_address=shares_address,
    )


def _places(plan: AddressPlan) -> dict[str, str]:
    """All of the fleet's own addresses: the supernet, and what is pinned outside of it."""
    supernet = IPv4Network(plan.supernet)
    pinned = {name: cidr for name, cidr in plan.aggregates().items() if not IPv4Network(cidr).subnet_of(supernet)}
    return {"fleet": plan.supernet, **{name.replace("/", "-"): cidr for name, cidr in sorted(pinned.items())}}
