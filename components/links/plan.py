"""Which ends of a fleet are joined, and by what: derived from its regions and sites, nothing by hand."""

from ipaddress import IPv4Network
from itertools import combinations
from typing import NamedTuple

from fleet.address import sizes
from fleet.address.plan import AddressPlan
from fleet.model import Fleet


class Tunnel(NamedTuple):
    """One tunnel between a gateway of a site and a region's hub.

    `number` is that in the address plan: each gateway has as many as a connection has, in their order. `gateway` is the
    site's public address, `inside_cidr` the /30 of which the hub has the first address and the gateway the second (AWS
    Site-to-Site VPN, "Tunnel options").
    """

    site: str
    region: str
    number: int
    gateway: str
    inside_cidr: str

    @property
    def name(self) -> str:
        return f"{self.site}/{self.region}/{self.number}"

    @property
    def hub_address(self) -> str:
        return str(IPv4Network(self.inside_cidr)[1])

    @property
    def gateway_address(self) -> str:
        return str(IPv4Network(self.inside_cidr)[2])


class Peering(NamedTuple):
    """Two regions whose hubs are peers. Hubs lead nothing on to a third one, so each pair has its own."""

    here: str
    there: str

    @property
    def name(self) -> str:
        return f"{self.here}/{self.there}"


def tunnels(fleet: Fleet, plan: AddressPlan) -> list[Tunnel]:
    """Of every site with every region."""
    each = sizes.TUNNELS_A_GATEWAY
    return [
        Tunnel(site, region, number + 1, gateway, plan.prefix(f"link/{site}/{region}/{number + 1}"))
        for site, about in fleet.sites.items()
        for region in fleet.regions
        for number, gateway in enumerate(gateway for gateway in about.gateways for _ in range(each))
    ]


def peerings(fleet: Fleet) -> list[Peering]:
    """Of every region of a cloud with every other one of it."""
    pairs = combinations(sorted(fleet.regions), 2)
    return [Peering(*pair) for pair in pairs if len({fleet.regions[one].cloud for one in pair}) == 1]
