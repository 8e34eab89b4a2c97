"""nftables: who may open a tunnel, and what may pass one. By prefixes and without state: ways may be asymmetric."""

from components.links import tunnel_settings

from . import pair
from .spec import GatewaySpec

# Of IPv4 and TCP. The kernel makes a segment smaller by this, never larger.
HEADS = 40
CONFIG = "/etc/nftables.d/landbridge.nft"
VRRP = 112


def files(spec: GatewaySpec) -> dict[str, str]:
    return {CONFIG: config(spec)}


def config(spec: GatewaySpec) -> str:
    """A table of its own, laid anew as a whole: others' stay as they are."""
    peers = ", ".join(sorted({end.outside for end in spec.ends}))
    devices = ", ".join(f'"{end.device}"' for end in spec.ends)
    speakers = ", ".join(f'"{end.device}" . {end.there}' for end in spec.ends)
    passing = ", ".join(f'"{end.device}" . {end.region_cidr}' for end in spec.ends)
    return f"""\
table inet landbridge
delete table inet landbridge

table inet landbridge {{
    set peers {{
        type ipv4_addr
        elements = {{ {peers} }}
    }}
    set tunnels {{
        type ifname
        elements = {{ {devices} }}
    }}
    set speakers {{
        type ifname . ipv4_addr
        elements = {{ {speakers} }}
    }}
    set regions {{
        type ifname . ipv4_addr
        flags interval
        elements = {{ {passing} }}
    }}

    chain input {{
        type filter hook input priority filter; policy accept;
        udp dport {{ 500, 4500 }} ip saddr != @peers drop
        meta l4proto esp ip saddr != @peers drop
        tcp dport 179 iifname . ip saddr != @speakers iifname != "lo" drop
        # What has addresses of IPv6 is no peer.
        meta nfproto ipv6 udp dport {{ 500, 4500 }} drop
        meta nfproto ipv6 meta l4proto {{ esp }} drop
        meta nfproto ipv6 tcp dport 179 iifname != "lo" drop
{_partner(spec)}        iifname @tunnels jump own
    }}

    # To the gateway itself, of which nobody beyond a tunnel wants more.
    chain own {{
        tcp dport 179 accept
        ip protocol icmp accept
        ct state established,related accept
        drop
    }}

    chain forward {{
        type filter hook forward priority filter; policy accept;
        # What goes out tells the other side, what comes in this one: either may never hear that a packet was too large.
        oifname @tunnels tcp flags syn / syn,rst tcp option maxseg size set {tunnel_settings.MTU - HEADS}
        iifname @tunnels tcp flags syn / syn,rst tcp option maxseg size set {tunnel_settings.MTU - HEADS}
{_smaller(spec)}        iifname @tunnels jump from_tunnels
        oifname @tunnels jump to_tunnels
    }}

    chain from_tunnels {{
        iifname . ip saddr @regions ip daddr {spec.block_cidr} accept
        drop
    }}

    chain to_tunnels {{
        oifname . ip daddr @regions ip saddr {spec.block_cidr} accept
        drop
    }}
}}
"""


def _smaller(spec: GatewaySpec) -> str:
    """What Azure wants below that, after the usual: the kernel makes it smaller still."""
    if not spec.azure:
        return ""
    devices, mss = ", ".join(f'"{end.device}"' for end in spec.azure), spec.azure[0].rules.mss
    directions = ("oifname", "iifname")
    return "".join(
        f"        {direction} {{ {devices} }} tcp flags syn / syn,rst tcp option maxseg size set {mss}\n"
        for direction in directions
    )


def _partner(spec: GatewaySpec) -> str:
    """Who has the LAN's address is between the two gateways."""
    if not spec.pair:
        return ""
    return f"""\
        meta l4proto {VRRP} ip saddr != {spec.pair.partner} drop
        udp dport {pair.WORD_PORT} ip saddr != {spec.pair.partner} drop
"""
