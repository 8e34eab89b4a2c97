"""Where sites ask a region for names. Its own machines ask the network's resolver, and so do servers for laptops.

Each address costs about 90 US dollars a month, and takes 1,500 questions a second while its security group lets in
sites alone, for connections are tracked then (Route 53, "Resolver endpoint scaling").
"""

from typing import NamedTuple

from fleet.address.plan import RegionPlan
from fleet.address.requests import RESOLVER


class Answering(NamedTuple):
    """One of the endpoint's addresses, in a zone's private subnet."""

    zone: str
    address: str


def answering(plan: RegionPlan) -> tuple[Answering, ...]:
    """By number; none in a fleet without sites."""
    found = {
        what: Answering(zone, address)
        for zone, planned in plan.zones.items()
        for what, address in planned.addresses.items()
        if what.startswith(f"{RESOLVER}/")
    }
    return tuple(found[what] for what in sorted(found))
