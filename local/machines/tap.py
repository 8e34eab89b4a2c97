"""A whole machine's card: a TAP at the router of its network, which stands there as a subnet's router does in a VPC."""

import ipaddress
import secrets
from pathlib import Path

from .network import CARD_PREFIX, GATEWAY_HARDWARE, Interface, addresses, at, batch, hardware_address, unplug, write
from .network import NetworkError as NetworkError

# VPC user guide, "Amazon DNS server": every network has one at this address.
RESOLVER = "169.254.169.253"
# What nobody here has, the router answers for: machines of the same subnet are behind it, as they are in a VPC.
SETTINGS = {"conf/{card}/rp_filter": "1", "conf/{card}/proxy_arp": "1", "neigh/{card}/proxy_delay": "0"}


def gateway(interface: Interface) -> str:
    """The subnet's first address is its router's (VPC user guide, "Subnet CIDR blocks")."""
    return str(ipaddress.ip_interface(interface.addresses[0]).network[1])


def netmask(interface: Interface) -> str:
    return str(ipaddress.ip_interface(interface.addresses[0]).netmask)


def plug(interface: Interface, router: Path | None) -> str:
    """Makes the TAP, for the machine to take; gives its name. Raises NetworkError, and then there is none."""
    tap = f"{CARD_PREFIX}{secrets.token_hex(6)}"
    address, mac = addresses(interface)[0], hardware_address(interface)
    try:
        batch(
            [
                f"tuntap add dev {tap} mode tap",
                f"link set {tap} address {GATEWAY_HARDWARE} addrgenmode none up",
                *(f"addr add {own}/32 dev {tap} noprefixroute" for own in (gateway(interface), RESOLVER)),
                f"neigh replace {address} lladdr {mac} dev {tap} nud permanent",
                f"route replace {address}/32 dev {tap} scope link",
            ],
            at(router),
        )
        for name, value in SETTINGS.items():
            write(value, f"/proc/sys/net/ipv4/{name.format(card=tap)}", at(router))
    except NetworkError:
        unplug(tap, router)
        raise
    return tap
