"""What a site's gateway has to know."""

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import NamedTuple

from components.links.plan import Tunnel, tunnels
from components.links.tunnel_settings import CLOUDS, Rules
from fleet import hubs, pairs
from fleet.address.plan import AddressPlan
from fleet.model import Fleet


class End(NamedTuple):
    """One tunnel as the gateway has it: `outside` is the hub's public address, `region_cidr` what lies beyond."""

    tunnel: Tunnel
    outside: str
    asn: int
    region_cidr: str

    @property
    def region(self) -> str:
        return self.tunnel.region

    @property
    def name(self) -> str:
        return f"{self.region}-{self.tunnel.number}"

    @property
    def there(self) -> str:
        """The hub's address inside."""
        return self.tunnel.hub_address

    @property
    def rules(self) -> Rules:
        """Of the cloud at the other end."""
        return CLOUDS[self.tunnel.cloud]

    @property
    def key(self) -> int:
        """A number that no other tunnel of the fleet has: its prefix's place among all /30s of 169.254.0.0/16."""
        return (int(IPv4Network(self.tunnel.inside_cidr).network_address) & 0xFFFF) // 4

    @property
    def device(self) -> str:
        """Linux calls an interface by at most 15 letters, and regions have longer names."""
        return f"vpn{self.key}"


class Pair(NamedTuple):
    """A gateway's addresses in the LAN that it has another gateway in; who carries has the `shared` one."""

    lan_cidr: str
    own: str
    partner: str
    shared: str


class GatewaySpec(NamedTuple):
    """`address` is the gateway's public one, `block_cidr` the site's one route. One alone is no pair."""

    site: str
    address: str
    asn: int
    block_cidr: str
    ends: tuple[End, ...]
    pair: Pair | None = None

    @property
    def azure(self) -> tuple[End, ...]:
        return tuple(end for end in self.ends if end.tunnel.cloud == "azure")

    def speaker(self, end: End) -> str:
        """From where the gateway speaks BGP: Azure knows one address of it for the tunnels to both instances."""
        both = (one for one in self.ends if one.region == end.region)
        return (end if end.tunnel.cloud == "aws" else min(both)).tunnel.gateway_address


def gateway_specs(fleet: Fleet, plan: AddressPlan, site: str, outside: Mapping[str, str]) -> list[GatewaySpec]:
    """Of each gateway of the site. `outside` has the hubs' public addresses by tunnels' names. Raises KeyError."""
    about, block = fleet.sites[site], plan.site(site).block
    mine = [one for one in tunnels(fleet, plan) if one.site == site]

    def ends(address: str) -> tuple[End, ...]:
        found = [one for one in mine if one.gateway == address]
        return tuple(End(one, outside[one.name], hubs.asn(one.region), plan.region(one.region).block) for one in found)

    pair = _pair(plan.site(site).lan) if len(about.gateways) > 1 else (None,)
    return [
        GatewaySpec(site, address, about.asn, block, ends(address), one)
        for address, one in zip(about.gateways, pair, strict=True)
    ]


def _pair(lan_cidr: str) -> tuple[Pair, Pair]:
    (one, other), shared = pairs.own(lan_cidr), pairs.shared(lan_cidr)
    return Pair(lan_cidr, one, other, shared), Pair(lan_cidr, other, one, shared)
