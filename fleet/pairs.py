"""Where the two gateways of a site are in its LAN. The first address is left to a router that the site has already."""

from ipaddress import IPv4Network

SHARED, FIRST = 2, 3


def shared(lan_cidr: str) -> str:
    """The next hop of the LAN's hosts towards the fleet: whichever of the two carries has it."""
    return str(IPv4Network(lan_cidr)[SHARED])


def own(lan_cidr: str) -> tuple[str, str]:
    """Those of the two, in the order in which the fleet file names them."""
    return str(IPv4Network(lan_cidr)[FIRST]), str(IPv4Network(lan_cidr)[FIRST + 1])


def all_of(lan_cidr: str) -> tuple[str, ...]:
    return shared(lan_cidr), *own(lan_cidr)
