"""What Azure is told of tunnels: of each site's gateway, and of each of AWS's ends. Pure.

A VPN gateway of Azure knows another end as a local network gateway, which has one public address and one of BGP. No two
may have the same ("Highly Available cross-premises": they "must have unique public IP addresses"). So a site's gateway
has one connection with both instances, and speaks BGP from one address on both tunnels.
"""

import hashlib
from typing import NamedTuple

from fleet import hubs
from fleet.address.plan import AddressPlan
from fleet.model import Fleet

from ..connections import Connection, connections
from ..plan import Crossing, crossings

# 9 to 3,600 s; Azure's own, and the longest that it advises.
DPD_SECONDS = 45
# The other end begins: a site's gateway may stand behind NAT, and of AWS's ends each knows one instance alone. If both
# did, two pairs of keys would cross.
MODE = "ResponderOnly"


class OtherEnd(NamedTuple):
    """A local network gateway and its connection: `asn` and `bgp_address` are the other end's.

    `instances` are the inside addresses of the gateway's first and second instance on it: never two of one instance.
    `site` and `gateway` are those of a site's; AWS's have `tunnel`, and a public address that AWS gives.
    """

    name: str
    region: str
    asn: int
    bgp_address: str
    instances: tuple[str, str]
    site: Connection | None = None
    tunnel: Crossing | None = None


def other_ends(fleet: Fleet, plan: AddressPlan, region: str) -> list[OtherEnd]:
    """All of a region of Azure."""
    found = [one for one in of_sites(fleet, plan) if one.region == region]
    mine = [one for one in crossings(fleet, plan) if one.azure == region]
    return [*found, *(_of_aws(one, mine) for one in mine)]


def of_sites(fleet: Fleet, plan: AddressPlan) -> tuple[OtherEnd, ...]:
    """Of every region of Azure: those with sites."""
    return tuple(_of_site(one) for one in connections(fleet, plan, "azure"))


def _of_site(one: Connection) -> OtherEnd:
    first, second = one.tunnels
    return OtherEnd(
        one.name, one.region, one.asn, first.gateway_address, (first.hub_address, second.hub_address), site=one
    )


def _of_aws(one: Crossing, mine: list[Crossing]) -> OtherEnd:
    """Its tunnel ends at one instance; of the other one Azure wants an address, and does not use it."""
    unused = next(other for other in mine if other.aws == one.aws and other.instance != one.instance)
    first, second = sorted((one, unused), key=lambda tunnel: tunnel.instance)
    name, addresses = f"{one.azure}-{one.aws}-{one.number}", (first.azure_address, second.azure_address)
    return OtherEnd(name, one.azure, hubs.asn(one.aws), one.aws_address, addresses, tunnel=one)


def inside_addresses(fleet: Fleet, plan: AddressPlan, region: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the first and second instance of the region's gateway, which has to have them before any connection does."""
    ends = other_ends(fleet, plan, region)
    first, second = ({end.instances[number]: None for end in ends} for number in (0, 1))
    return tuple(first), tuple(second)


def key_name(fleet: str, connection: Connection, key: str) -> str:
    """The secret in the vault of the connection's region: tunnels' names to their key, which is one for both.

    A vault takes letters, digits and hyphens. Another key has another name, by a digest of it.
    """
    return f"{fleet}-links-{connection.name}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"
