"""What a site's gateway has to know."""

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import NamedTuple

from components.links.connections import connections
from components.links.plan import Tunnel
from fleet import hubs
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
    def key(self) -> int:
        """A number that no other tunnel of the fleet has: its prefix's place among all /30s of 169.254.0.0/16."""
        return (int(IPv4Network(self.tunnel.inside_cidr).network_address) & 0xFFFF) // 4

    @property
    def device(self) -> str:
        """Linux calls an interface by at most 15 letters, and regions have longer names."""
        return f"vpn{self.key}"


class GatewaySpec(NamedTuple):
    """`address` is the gateway's public one, `block_cidr` the site's one route."""

    site: str
    address: str
    asn: int
    block_cidr: str
    ends: tuple[End, ...]


def gateway_specs(fleet: Fleet, plan: AddressPlan, site: str, outside: Mapping[str, str]) -> list[GatewaySpec]:
    """Of each gateway of the site. `outside` has the hubs' public addresses by tunnels' names. Raises KeyError."""
    about, block = fleet.sites[site], plan.site(site).block
    mine = [one for one in connections(fleet, plan) if one.site == site]

    def ends(address: str) -> tuple[End, ...]:
        found = [tunnel for one in mine if one.address == address for tunnel in one.tunnels]
        return tuple(End(one, outside[one.name], hubs.asn(one.region), plan.region(one.region).block) for one in found)

    return [GatewaySpec(site, address, about.asn, block, ends(address)) for address in about.gateways]
