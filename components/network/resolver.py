"""Where a region is asked for names by sites and by another cloud's regions, and what it asks those itself. Pure.

A region's own machines ask the network's resolver, and so do servers for laptops. That knows the zones of its own
cloud; questions for those of another one it hands on, through the tunnels.

Each address costs about 90 US dollars a month. On AWS it takes 1,500 questions a second while its security group lets
in sites and another cloud alone, for connections are tracked then (Route 53, "Resolver endpoint scaling").
"""

from ipaddress import IPv4Network
from typing import NamedTuple

from fleet.address.plan import AddressPlan, RegionPlan
from fleet.address.requests import OUTBOUND, RESOLVER
from fleet.model import Fleet

DNS = 53
# Azure keeps the first four addresses of a subnet; the resolver's is the one after them.
AZURE_OFFSET = 4


class Answering(NamedTuple):
    """One of an endpoint's addresses, in a zone's private subnet."""

    zone: str
    address: str


class Forward(NamedTuple):
    """Questions for names of `zone`, that of a `region` in another cloud, go to the addresses where this answers."""

    region: str
    zone: str
    addresses: tuple[str, ...]


def answering(plan: RegionPlan) -> tuple[Answering, ...]:
    """On AWS, by number; none in a fleet without sites and another cloud."""
    return _planned(plan, RESOLVER)


def outbound(plan: RegionPlan) -> tuple[Answering, ...]:
    """From where a region of AWS asks, by number; none in a fleet in one cloud."""
    return _planned(plan, OUTBOUND)


def answers(plan: RegionPlan) -> tuple[str, ...]:
    """The addresses at which a region of either cloud answers."""
    if plan.names:
        return (str(IPv4Network(plan.names)[AZURE_OFFSET]),)
    return tuple(one.address for one in answering(plan))


def forwards(fleet: Fleet, plan: AddressPlan, region: str) -> tuple[Forward, ...]:
    """What the region hands on: names of every region in another cloud, each to that region itself."""
    return tuple(Forward(name, f"{name}.{fleet.domain}", answers(plan.region(name))) for name in others(fleet, region))


def others(fleet: Fleet, region: str) -> list[str]:
    """The regions that are in another cloud."""
    return [name for name, about in fleet.regions.items() if about.cloud != fleet.regions[region].cloud]


def _planned(plan: RegionPlan, role: str) -> tuple[Answering, ...]:
    found = {
        what: Answering(zone, address)
        for zone, planned in plan.zones.items()
        for what, address in planned.addresses.items()
        if what.startswith(f"{role}/")
    }
    return tuple(found[what] for what in sorted(found))
