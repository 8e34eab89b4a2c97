"""Which networks resolve the names of which private zone: every network those of every region and of every site."""

from collections.abc import Iterable
from itertools import permutations
from typing import NamedTuple

from fleet.model import Fleet


class Resolves(NamedTuple):
    """The network of region `here` resolves the names of region `there`."""

    here: str
    there: str

    @property
    def name(self) -> str:
        return f"{self.there}-in-{self.here}"


def resolves(regions: Iterable[str]) -> list[Resolves]:
    """A region's own network knows its own zone from birth: that pair is left out."""
    return [Resolves(here, there) for here, there in permutations(sorted(regions), 2)]


class SiteZone(NamedTuple):
    """A site's own names: `hosts` are full names with their addresses, of those that have one in the fleet file."""

    site: str
    name: str
    hosts: tuple[tuple[str, str], ...]


def site_zones(fleet: Fleet) -> list[SiteZone]:
    """None for a site whose hosts take addresses as they come: its own DNS may know them, the plan does not."""
    found = []
    for site, about in fleet.sites.items():
        known = {host: one.address for host, one in sorted(about.hosts.items()) if one.address}
        zone = f"{site}.{fleet.domain}"
        if known:
            found.append(SiteZone(site, zone, tuple((f"{host}.{zone}", at) for host, at in known.items())))
    return found
