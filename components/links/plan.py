"""Which ends of a fleet are joined, and by what: derived from its regions and sites, nothing by hand."""

from collections.abc import Iterable
from ipaddress import IPv4Network
from itertools import combinations
from typing import NamedTuple

from fleet.address import sizes
from fleet.address.plan import AddressPlan
from fleet.address.reserved import AZURE_TUNNEL_ROOTS
from fleet.model import Cloud, Fleet

_AZURE = [IPv4Network(root) for root in AZURE_TUNNEL_ROOTS]
# Which address of a tunnel's /30 the region's end has, where the other end is a site.
HUB_PLACES: dict[Cloud, int] = {"aws": 1, "azure": 2}


class Tunnel(NamedTuple):
    """One tunnel between a gateway of a site and a region's hub.

    `number` is that in the address plan: each gateway has as many as a connection has, in their order. `gateway` is the
    site's public address. Of the /30 `inside_cidr` AWS's hub has the first address and the gateway the second (AWS
    Site-to-Site VPN, "Tunnel options"); an instance of Azure's gateway has the second one, as where AWS is beyond.
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
    def cloud(self) -> Cloud:
        """The region's: prefixes of Azure's range are planned for its regions alone."""
        return "azure" if any(IPv4Network(self.inside_cidr).subnet_of(root) for root in _AZURE) else "aws"

    @property
    def hub_address(self) -> str:
        return str(IPv4Network(self.inside_cidr)[HUB_PLACES[self.cloud]])

    @property
    def gateway_address(self) -> str:
        return str(IPv4Network(self.inside_cidr)[3 - HUB_PLACES[self.cloud]])

    @property
    def instance(self) -> int:
        """Which of the hub's two ends it is at, 0 or 1: a tunnel of AWS's connection, an instance of Azure's."""
        return (self.number - 1) % sizes.TUNNELS_A_GATEWAY


class Crossing(NamedTuple):
    """One tunnel between a region of AWS and one of Azure, which has both as its ends.

    AWS has a connection of two tunnels with each of the two instances of Azure's gateway: `number` 1 and 2 are those of
    the first instance. AWS has the first address of the /30 and Azure the second ("How to connect AWS and Azure using a
    BGP-enabled VPN gateway").
    """

    aws: str
    azure: str
    number: int
    inside_cidr: str

    @property
    def name(self) -> str:
        return f"{self.aws}/{self.azure}/{self.number}"

    @property
    def instance(self) -> int:
        """0 or 1: that of Azure's gateway."""
        return (self.number - 1) // sizes.TUNNELS_A_GATEWAY

    @property
    def aws_address(self) -> str:
        return str(IPv4Network(self.inside_cidr)[1])

    @property
    def azure_address(self) -> str:
        return str(IPv4Network(self.inside_cidr)[2])


class Peering(NamedTuple):
    """Two regions of one cloud that are peers: hubs of AWS, networks of Azure. None leads on to a third one."""

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


def between(found: Iterable[Peering], regions: Iterable[str]) -> list[Peering]:
    """Those of which both ends are there."""
    there = set(regions)
    return [pair for pair in found if {pair.here, pair.there} <= there]


def peerings(fleet: Fleet) -> list[Peering]:
    """Of every region of a cloud with every other one of it."""
    pairs = combinations(sorted(fleet.regions), 2)
    return [Peering(*pair) for pair in pairs if len({fleet.regions[one].cloud for one in pair}) == 1]


def crossings(fleet: Fleet, plan: AddressPlan) -> list[Crossing]:
    """Of every region of AWS with every one of Azure."""
    clouds = {cloud: [name for name, region in fleet.regions.items() if region.cloud == cloud] for cloud in HUB_PLACES}
    return [
        Crossing(aws, azure, number, plan.prefix(f"link/{aws}/{azure}/{number}"))
        for aws in clouds["aws"]
        for azure in clouds["azure"]
        for number in range(1, sizes.TUNNELS_BETWEEN_CLOUDS + 1)
    ]
