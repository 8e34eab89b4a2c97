"""Connections of regions with sites: one for each gateway and region, of two tunnels, on every cloud. Pure."""

from itertools import groupby
from typing import NamedTuple

from fleet.address.plan import AddressPlan
from fleet.model import Cloud, Fleet

from .plan import Tunnel, tunnels


class Connection(NamedTuple):
    """Between a region's hub and one gateway of a site, whose public `address` and `asn` these are."""

    site: str
    region: str
    number: int
    address: str
    asn: int
    tunnels: tuple[Tunnel, ...]

    @property
    def name(self) -> str:
        return connection_name(self.region, self.site, self.number)


def connection_name(region: str, other: str, number: int) -> str:
    """Of a region's hub with another end."""
    return f"{region}-{other}-{number}"


def connections(fleet: Fleet, plan: AddressPlan, cloud: Cloud = "aws") -> list[Connection]:
    """Of every gateway of every site with every region of a cloud."""
    found = []
    mine = [one for one in tunnels(fleet, plan) if fleet.regions[one.region].cloud == cloud]
    for (site, region, address), both in groupby(mine, key=lambda one: (one.site, one.region, one.gateway)):
        about = fleet.sites[site]
        number = about.gateways.index(address) + 1
        found.append(Connection(site, region, number, address, about.asn, tuple(both)))
    return found
