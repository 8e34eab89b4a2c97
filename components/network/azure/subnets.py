"""Subnets of a region's network on Azure: subnets there span zones, and keep no address from automatic assignment.

So each zone's planned prefix is cut in halves: machines get addresses from the upper one, and what has a planned
address, or answers for the cloud's own services, has subnets of its own in the lower one.
"""

from ipaddress import IPv4Network
from typing import NamedTuple

from fleet.address.plan import RegionPlan
from fleet.model import Region

from ..routes import nat_zone

GATEWAY = "GatewaySubnet"  # by Azure's rule the name of the one that VPN gateways stand in
ENDPOINTS, NAMES, QUESTIONS = "endpoints", "names", "questions"
RESOLVERS = "Microsoft.Network/dnsResolvers"


class Subnet(NamedTuple):
    """`group` names its security group, `table` its route table; `nat_zone` is where its NAT gateway stands."""

    name: str
    cidr: str
    group: str | None = None
    table: str | None = None
    nat_zone: str | None = None
    delegation: str | None = None


def machines(private: str) -> str:
    """The half of a zone's private prefix that automatic assignment has."""
    return str(list(IPv4Network(private).subnets(1))[1])


def endpoints(private: str, fixed: str) -> str:
    """The prefix of private endpoints: as large as that of planned addresses, and right behind it."""
    length = IPv4Network(fixed).prefixlen
    return str(next(one for one in IPv4Network(private).subnets(new_prefix=length) if str(one) != fixed))


def subnets(region: Region, plan: RegionPlan) -> list[Subnet]:
    """Sorted by name. NAT gateways have a zone and stand in no subnet."""
    oldest, found = nat_zone(plan), []
    for zone in sorted(region.zones):
        here = plan.zones[zone]
        nat = zone if region.nat == "per-zone" else oldest
        table = "private" if region.nat == "one" else f"private-{zone}"
        found.append(Subnet(f"private-{zone}", machines(here.private), "private", table, nat))
        found.append(Subnet(f"fixed-{zone}", here.fixed, "fixed", table, nat))
        found.append(Subnet(f"public-{zone}", here.public, "public", "public"))
    found.append(Subnet(ENDPOINTS, endpoints(plan.zones[oldest].private, plan.zones[oldest].fixed), ENDPOINTS))
    if plan.names:
        found.append(Subnet(NAMES, plan.names, NAMES, delegation=RESOLVERS))
    if plan.questions:
        found.append(Subnet(QUESTIONS, plan.questions, QUESTIONS, delegation=RESOLVERS))
    assert plan.gateway is not None  # requests: every region of Azure has one
    found.append(Subnet(GATEWAY, plan.gateway))
    return sorted(found)
