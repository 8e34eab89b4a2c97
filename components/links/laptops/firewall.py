"""nftables and kernel settings of a server: laptops reach what the plan has, nobody reaches a laptop."""

from components.boot import people

from .server import DEVICE, names
from .spec import MTU, PORT, LaptopsSpec, Server

CONFIG = "/etc/nftables.d/landbridge-laptops.nft"
SYSCTL = "/etc/sysctl.d/60-landbridge-laptops.conf"
# Of IPv4 and TCP. The kernel makes a segment smaller by this, never larger.
HEADS = 40
QUESTIONS = "meta l4proto { tcp, udp } th dport 53"
SYSCTLS = {
    "net.ipv4.ip_forward": 1,
    "net.ipv4.conf.all.rp_filter": 2,
    "net.ipv4.conf.all.accept_redirects": 0,
    "net.ipv4.conf.all.send_redirects": 0,
}


def files(spec: LaptopsSpec, server: Server) -> dict[str, str]:
    return {CONFIG: config(spec, server), SYSCTL: "".join(f"{name} = {value}\n" for name, value in SYSCTLS.items())}


def config(spec: LaptopsSpec, server: Server) -> str:
    """A table of its own, laid anew as a whole: others' stay as they are."""
    reached = ", ".join(cidr for _, cidr in spec.reached)
    operators = ", ".join(sorted({cidr for _, cidr in spec.logins_from}))
    ssh = f"        tcp dport {people.PORT} ip saddr {{ {operators} }} accept\n" if operators else ""
    heard = "".join(
        f"        ip saddr {one.peer} {one.protocol} dport {one.first} accept  # {one.why}\n" for one in spec.heard
    )
    asks = (
        f'''\
        # Asked of the server, which hands it on.
        iifname "{DEVICE}" ip saddr {server.pool_cidr} ip daddr {spec.resolver} {QUESTIONS} accept
'''
        if spec.own_name
        else ""
    )
    return f"""\
table inet landbridge_laptops
delete table inet landbridge_laptops

table inet landbridge_laptops {{
    set reached {{
        type ipv4_addr
        flags interval
        auto-merge
        elements = {{ {reached} }}
    }}
    set laptops {{
        type ipv4_addr
        flags interval
        elements = {{ {", ".join(spec.pools)} }}
    }}

    chain input {{
        type filter hook input priority filter; policy drop;
        iifname "lo" accept
        ct state established,related accept
        iifname != "{DEVICE}" udp dport {PORT} accept
        udp sport 67 udp dport 68 accept
        ip protocol icmp accept
{ssh}{heard}    }}

    chain forward {{
        type filter hook forward priority filter; policy drop;
        tcp flags syn / syn,rst tcp option maxseg size set {MTU - HEADS}
        ct state established,related accept
        # One laptop is none of another's business, whichever server it came by.
        iifname "{DEVICE}" ip saddr {server.pool_cidr} ip daddr @laptops drop
        iifname "{DEVICE}" ip saddr {server.pool_cidr} ip daddr @reached accept
{asks}    }}

{_own_name(spec, server)}}}
"""


def _own_name(spec: LaptopsSpec, server: Server) -> str:
    """What would not find back to a laptop goes in the server's own name.

    On Azure nothing finds back: see docs/decisions/0046-laptops-on-azure.md.
    """
    if not spec.own_name:
        return f"""\
    # What would not find back to a laptop goes in the server's own name.
    chain own_name {{
        type nat hook postrouting priority srcnat; policy accept;
        # The network's resolver answers addresses of the network and no others.
        ip saddr {server.pool_cidr} ip daddr {spec.resolver} {QUESTIONS} masquerade
        # Nodes know a way to the server's place in the overlay of pods, and none to its laptops.
        ip saddr {server.pool_cidr} ip daddr {spec.node.pods_cidr} masquerade
    }}
"""
    return f"""\
    # No route of the cloud leads to laptops.
    chain own_name {{
        type nat hook postrouting priority srcnat; policy accept;
        oifname != "{DEVICE}" ip saddr {server.pool_cidr} masquerade
    }}

    # The cloud's resolver is at an address of the platform's, to which no laptop has a route.
    chain names {{
        type nat hook prerouting priority dstnat; policy accept;
        iifname "{DEVICE}" ip daddr {names(spec, server)} {QUESTIONS} dnat ip to {spec.resolver}
    }}
"""
