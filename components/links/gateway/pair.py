"""keepalived's part, where a site has two gateways: one of them has the address that the LAN's hosts send to.

VRRP (RFC 5798) between the two alone. Each counts for as many as it reaches regions, so the address goes to the one
that reaches more, and stays where it is when both reach as many: a gateway that is back takes nothing away.
"""

from components.control_plane.units import UNITS, script, service

from .spec import GatewaySpec, Pair

CONFIG = "/etc/keepalived/landbridge.conf"
UNIT = "landbridge-pair.service"
# What the gateway's scripts write: the LAN's device, and how many regions the gateway reaches.
RUN = "/run/landbridge"
DEVICE, CARRIES = f"{RUN}/lan.conf", f"{RUN}/carries"
# A silent partner is given up after three of these and its skew, together below 2 s.
HELLO_SECONDS = 0.5
# Of 1 to 254; one more for each region.
PRIORITY = 100
ROUTER = 51
# The two watchdogs' word to each other, over UDP.
WORD_PORT = 7179


def files(spec: GatewaySpec) -> dict[str, str]:
    return {CONFIG: config(spec.site, spec.pair), f"{UNITS}/{UNIT}": unit(spec.site)} if spec.pair else {}


def config(site: str, pair: Pair) -> str:
    return f"""\
# $LAN, the device that has {pair.own}
include {DEVICE}

global_defs {{
    router_id {site}
    vrrp_version 3
}}

track_file carries {{
    file {CARRIES}
    weight 1
    init_file 0
}}

vrrp_instance lan {{
    interface $LAN
    state BACKUP
    virtual_router_id {ROUTER}
    priority {PRIORITY}
    advert_int {HELLO_SECONDS:g}
    unicast_src_ip {pair.own}
    unicast_peer {{
        {pair.partner}
    }}
    virtual_ipaddress {{
        {pair.shared}/32 dev $LAN
    }}
    track_file {{
        carries weight 1
    }}
}}
"""


def unit(site: str) -> str:
    """Not the package's own, which starts where somebody has a keepalived.conf."""
    words = f"--dont-fork --log-console --no-syslog --vrrp --use-file {CONFIG}"
    files = f"--pid {RUN}/pair.pid --vrrp_pid {RUN}/pair-vrrp.pid"
    return service(
        f"Which gateway of {site} its LAN sends to",
        f"/usr/sbin/keepalived {words} {files}",
        kind="notify",
        before_start=(script("gateway_lan"),),
        NotifyAccess="all",
    )
