"""FRR's part: a session a tunnel, and what is told and believed there."""

from ipaddress import IPv4Network
from itertools import groupby

from components.links import policy

from .spec import End, GatewaySpec

CONFIG, DAEMONS = "/etc/frr/frr.conf", "/etc/frr/daemons"
# AWS tells a handful; whoever tells more has lost its way, and is heard again after a while. `force` counts those that
# the list refuses, too, and FRR has to keep them for that (soft-reconfiguration); it looks when it believes one.
MOST_PREFIXES, AGAIN_MINUTES = 20, 5
# Lists of what is told, usually and by a tunnel that shall draw all traffic; regions' names have no capitals.
OWN, DRAWING = "OWN", "DRAWING"


def files(spec: GatewaySpec) -> dict[str, str]:
    return {CONFIG: config(spec), DAEMONS: daemons()}


def daemons() -> str:
    return """\
bgpd=yes
vtysh_enable=yes
zebra_options="  -A 127.0.0.1"
bgpd_options="   -A 127.0.0.1"
"""


def config(spec: GatewaySpec) -> str:
    """Of a region its own block is believed and nothing else: a default route, the site's LAN or another region's
    block stays outside. The site's block is told; the watchdog has a tunnel tell the block's halves, too, which draws
    all traffic to it.
    """
    by_region = groupby(sorted(spec.ends), key=lambda end: (end.region, end.region_cidr))
    believed = "\n".join(f"ip prefix-list {region} seq 10 permit {cidr}" for (region, cidr), _ in by_region)
    block = IPv4Network(spec.block_cidr)
    told = [str(one) for one in (block, *block.subnets())]
    nowhere = "\n".join(f"ip route {one} Null0 250" for one in told)
    networks = "\n".join(f"  network {one}" for one in told)
    sessions = "\n".join(_session(end) for end in spec.ends)
    families = "\n".join(_family(end) for end in spec.ends)
    return f"""\
frr defaults traditional
hostname {spec.site}
log syslog informational
service integrated-vtysh-config
!
! A block is told only while there is a route for it; that to nowhere is always there.
{nowhere}
!
ip prefix-list {OWN} seq 10 permit {block}
ip prefix-list {DRAWING} seq 10 permit {block} le {block.prefixlen + 1}
{believed}
!
router bgp {spec.asn}
 bgp router-id {spec.address}
 ! A restarting peer would be believed for minutes after its tunnel is gone.
 bgp graceful-restart-disable
 timers bgp {policy.HELLO_SECONDS} {policy.HOLD_SECONDS}
{sessions}
 !
 address-family ipv4 unicast
{networks}
  ! Both tunnels count alike: by that AWS can lead traffic off one that it is about to renew.
  maximum-paths 2
{families}
 exit-address-family
exit
!
"""


def _session(end: End) -> str:
    return f" neighbor {end.there} remote-as {end.asn}\n neighbor {end.there} description {end.name}"


def _family(end: End) -> str:
    lines = (
        f"prefix-list {OWN} out",
        f"prefix-list {end.region} in",
        "soft-reconfiguration inbound",
        f"maximum-prefix {MOST_PREFIXES} restart {AGAIN_MINUTES} force",
    )
    return "\n".join(f"  neighbor {end.there} {line}" for line in lines)
