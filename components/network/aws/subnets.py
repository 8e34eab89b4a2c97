"""Subnets of a region's network: a private and a public one for each zone."""

from typing import NamedTuple

from fleet.address.plan import RegionPlan
from fleet.model import Region

from ..routes import nat_zone


class Subnet(NamedTuple):
    """One subnet. `fixed` is what a private one keeps from automatic assignment; `nat`: holds a NAT gateway."""

    name: str
    zone: str
    cidr: str
    public: bool
    fixed: str | None = None
    nat: bool = False


def subnets(region: Region, plan: RegionPlan) -> list[Subnet]:
    """Sorted by zone, so that the order of zones in the fleet file means nothing."""
    found = []
    for zone in sorted(region.zones):
        nat = region.nat == "per-zone" or zone == nat_zone(plan)
        found.append(
            Subnet(f"private-{zone}", zone, plan.zones[zone].private, public=False, fixed=plan.zones[zone].fixed)
        )
        found.append(Subnet(f"public-{zone}", zone, plan.zones[zone].public, public=True, nat=nat))
    return found
