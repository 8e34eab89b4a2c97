"""What AWS is told of a connection with a site: all options of both tunnels. Pure."""

from collections.abc import Iterable

from .. import tunnel_settings
from ..connections import Connection

# An option in AWS's words → its value, the same for every tunnel. None is left at its default: those of the second
# tunnel are the weak ones of 2008 where only the first was thought of.
OPTIONS: dict[str, object] = {
    "ike_versions": ["ikev2"],
    "phase1_encryption_algorithms": [tunnel_settings.IKE.encryption],
    "phase1_integrity_algorithms": [tunnel_settings.IKE.integrity],
    "phase1_dh_group_numbers": [tunnel_settings.IKE.dh_group],
    "phase1_lifetime_seconds": tunnel_settings.IKE_SECONDS,
    "phase2_encryption_algorithms": [tunnel_settings.ESP.encryption],
    "phase2_integrity_algorithms": [tunnel_settings.ESP.integrity],
    "phase2_dh_group_numbers": [tunnel_settings.ESP.dh_group],
    "phase2_lifetime_seconds": tunnel_settings.ESP_SECONDS,
    # AWS's range is 60 s to half of phase 2; with this it starts a new key after the site has.
    "rekey_margin_time_seconds": 270,
    "rekey_fuzz_percentage": 100,
    "replay_window_size": tunnel_settings.REPLAY_WINDOW,
    "dpd_timeout_seconds": 30,
    "dpd_timeout_action": "restart",
    # The site begins: its gateway may stand behind an address that AWS can't reach by itself.
    "startup_action": "add",
    # Maintenance waits until somebody takes it, or until its last day.
    "enable_tunnel_lifecycle_control": True,
}


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
