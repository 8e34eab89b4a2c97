"""What AWS is told of a site's tunnels: a connection for each gateway and region, with all options of both. Pure."""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from fleet.address.plan import AddressPlan
from fleet.model import Cloud, Fleet

from .. import policy
from ..plan import Tunnel, tunnels


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
        return f"{self.region}-{self.site}-{self.number}"


# An option in AWS's words → its value, the same for every tunnel. None is left at its default: those of the second
# tunnel are the weak ones of 2008 where only the first was thought of.
OPTIONS: dict[str, object] = {
    "ike_versions": ["ikev2"],
    "phase1_encryption_algorithms": [policy.IKE.encryption],
    "phase1_integrity_algorithms": [policy.IKE.integrity],
    "phase1_dh_group_numbers": [policy.IKE.dh_group],
    "phase1_lifetime_seconds": policy.IKE_SECONDS,
    "phase2_encryption_algorithms": [policy.ESP.encryption],
    "phase2_integrity_algorithms": [policy.ESP.integrity],
    "phase2_dh_group_numbers": [policy.ESP.dh_group],
    "phase2_lifetime_seconds": policy.ESP_SECONDS,
    # AWS's range is 60 s to half of phase 2; with this it starts a new key after the site has.
    "rekey_margin_time_seconds": 270,
    "rekey_fuzz_percentage": 100,
    "replay_window_size": policy.REPLAY_WINDOW,
    "dpd_timeout_seconds": 30,
    "dpd_timeout_action": "restart",
    # The site begins: its gateway may stand behind an address that AWS can't reach by itself.
    "startup_action": "add",
    # Maintenance waits until somebody takes it, or until its last day.
    "enable_tunnel_lifecycle_control": True,
}


def connections(fleet: Fleet, plan: AddressPlan, cloud: Cloud = "aws") -> list[Connection]:
    """Of every gateway of every site with every region of a cloud."""
    found = []
    mine = [one for one in tunnels(fleet, plan) if fleet.regions[one.region].cloud == cloud]
    for (site, region, address), both in groupby(mine, key=lambda one: (one.site, one.region, one.gateway)):
        about = fleet.sites[site]
        number = about.gateways.index(address) + 1
        found.append(Connection(site, region, number, address, about.asn, tuple(both)))
    return found


def options(inside_cidrs: Iterable[str], **other: object) -> dict[str, object]:
    """Of `aws.ec2.VpnConnection`, less what other resources make: gateways' ids, keys and logs.

    `inside_cidrs` are those of both tunnels, `other` the options that both have in place of OPTIONS.
    """
    found: dict[str, object] = {"type": "ipsec.1", "static_routes_only": False, "tunnel_inside_ip_version": "ipv4"}
    for number, cidr in enumerate(inside_cidrs, 1):
        found |= {f"tunnel{number}_{name}": value for name, value in (OPTIONS | other).items()}
        found[f"tunnel{number}_inside_cidr"] = cidr
    return found


def key_place(fleet: str, connection: Connection) -> str:
    """The secret with the keys of both tunnels by their names, in the connection's region."""
    return f"{fleet}/links/{connection.name}"
