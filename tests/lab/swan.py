"""What both clouds' ends of a tunnel have in common here: strongSwan's configuration, and a device that moves."""

from collections.abc import Mapping
from typing import NamedTuple

from components.links.tunnel_settings import MTU

from .charon import Charon
from .machines import Machine, moved

ROUTER = ("net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.fib_multipath_hash_policy=1")


class Keys(NamedTuple):
    """A cloud's rules of keys: it takes these proposals alone. `child` are more settings of the traffic's."""

    ike: str
    esp: str
    ike_seconds: int
    dpd_seconds: int
    child: Mapping[str, object]


def text(name: str, here: str, there: str, *, key: str, port: int, keys: Keys) -> str:
    """What swanctl loads. `here` and `there` are public addresses, `port` is where the other end's process listens."""
    child = "".join(f"                {option} = {value}\n" for option, value in keys.child.items())
    return f"""\
connections {{
    {name} {{
        version = 2
        local_addrs = {here}
        remote_addrs = {there}
        remote_port = {port}
        proposals = {keys.ike}
        rekey_time = {keys.ike_seconds}s
        dpd_delay = {keys.dpd_seconds}s
        mobike = no
        unique = replace
        local {{
            auth = psk
            id = {here}
        }}
        remote {{
            auth = psk
            id = {there}
        }}
        children {{
            {name} {{
                local_ts = 0.0.0.0/0
                remote_ts = 0.0.0.0/0
                esp_proposals = {keys.esp}
{child}            }}
        }}
    }}
}}
secrets {{
    ike-{name} {{
        id-here = {here}
        id-there = {there}
        secret = "{key}"
    }}
}}
"""


def take(charon: Charon, of: Machine, machine: Machine, device: str) -> None:
    """Has a tunnel's device, which charon made in a machine of its own, in the one that speaks BGP."""
    moved(of, charon.ready(), machine, device)
    machine.ip(f"link set {device} mtu {MTU} up")
