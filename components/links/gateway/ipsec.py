"""strongSwan's part: swanctl, a file a tunnel and the keys apart, and what the daemon does besides."""

from collections.abc import Mapping

from components.links import tunnel_settings

from .spec import End, GatewaySpec

FOLDER = "/etc/swanctl/conf.d"
SECRETS = f"{FOLDER}/landbridge-keys.conf"
DAEMON = "/etc/strongswan.d/landbridge.conf"


def files(spec: GatewaySpec) -> dict[str, str]:
    return {DAEMON: daemon(), **{f"{FOLDER}/{end.name}.conf": connection(spec, end) for end in spec.ends}}


def secrets(spec: GatewaySpec, keys: Mapping[str, str]) -> dict[str, str]:
    """The file that root alone may read. `keys` are the tunnels' pre-shared ones by their names. Raises KeyError."""
    parts = [
        f"    ike-{end.name} {{\n        id-here = {spec.address}\n        id-there = {end.outside}\n"
        f'        secret = "{keys[end.tunnel.name]}"\n    }}\n'
        for end in spec.ends
    ]
    return {SECRETS: f"secrets {{\n{''.join(parts)}}}\n"}


def connection(spec: GatewaySpec, end: End) -> str:
    """All traffic may take the tunnel, and none does by itself: the interface is, and BGP leads into it."""
    return f"""\
connections {{
    {end.name} {{
        version = 2
        # Its public address may be that of a NAT before it: who it is, its identity says.
        local_addrs = %any
        remote_addrs = {end.outside}
        proposals = {tunnel_settings.IKE.swan}
        rekey_time = {tunnel_settings.IKE_REKEY_SECONDS}s
        dpd_delay = {tunnel_settings.DPD_SECONDS}s
        keyingtries = 0
        unique = replace
        # Clouds' ends do not move.
        mobike = no
        fragmentation = yes
        local {{
            auth = psk
            id = {spec.address}
        }}
        remote {{
            auth = psk
            id = {end.outside}
        }}
        children {{
            {end.name} {{
                local_ts = 0.0.0.0/0
                remote_ts = 0.0.0.0/0
                esp_proposals = {tunnel_settings.ESP.swan}
                rekey_time = {tunnel_settings.ESP_REKEY_SECONDS}s
                life_time = {tunnel_settings.ESP_SECONDS}s
                if_id_in = {end.key}
                if_id_out = {end.key}
                replay_window = {tunnel_settings.REPLAY_WINDOW}
                start_action = start
                close_action = start
                dpd_action = restart
            }}
        }}
    }}
}}
"""


def daemon() -> str:
    return f"""\
charon {{
    # Routes are BGP's.
    install_routes = no
    install_virtual_ip = no
    retransmit_timeout = {tunnel_settings.RETRANSMIT_SECONDS:g}
    retransmit_base = {tunnel_settings.RETRANSMIT_BASE:g}
    retransmit_tries = {tunnel_settings.RETRANSMIT_TRIES}
}}
"""
