"""What a site's gateway has to know."""

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import NamedTuple

from components.links.plan import Tunnel, tunnels
from fleet import hubs
from fleet.address.plan import AddressPlan
from fleet.model import Fleet


class End(NamedTuple):
    """One tunnel as the gateway has it. `outside` is the hub's public address, `here` and `there` are addresses inside.

    `key` is a number that no other tunnel of the fleet has; Linux calls an interface by at most 15 letters.
    """

    region: str
    number: int
    outside: str
    here: str
    there: str
    asn: int
    region_cidr: str
    key: int

    @property
    def name(self) -> str:
        return f"{self.region}-{self.number}"

    @property
    def device(self) -> str:
        return f"vpn{self.key}"


class GatewaySpec(NamedTuple):
    """`address` is the gateway's public one, `block_cidr` the site's one route, `lan_cidr` the part of it in use."""

    fleet: str
    site: str
    address: str
    asn: int
    block_cidr: str
    lan_cidr: str
    ends: tuple[End, ...]


def gateway_specs(fleet: Fleet, plan: AddressPlan, site: str, outside: Mapping[str, str]) -> list[GatewaySpec]:
    """Of each gateway of the site. `outside` has the hubs' public addresses by tunnels' names. Raises KeyError."""
    about, planned = fleet.sites[site], plan.site(site)
    mine = [one for one in tunnels(fleet, plan) if one.site == site]
    return [
        GatewaySpec(
            fleet.fleet,
            site,
            address,
            about.asn,
            planned.block,
            planned.lan,
            tuple(_end(plan, one, outside[one.name]) for one in mine if one.gateway == address),
        )
        for address in about.gateways
    ]


def _end(plan: AddressPlan, tunnel: Tunnel, outside: str) -> End:
    inside = IPv4Network(tunnel.inside_cidr)
    there, here = inside.hosts()
    return End(
        region=tunnel.region,
        number=tunnel.number,
        outside=outside,
        here=str(here),
        there=str(there),
        asn=hubs.asn(tunnel.region),
        region_cidr=plan.region(tunnel.region).block,
        # The inside prefix's place among all /30s of 169.254.0.0/16.
        key=(int(inside.network_address) & 0xFFFF) // 4,
    )
