"""FRR's part: a session a tunnel, and what is told and believed there."""

from ipaddress import IPv4Network
from itertools import groupby

from components.links import tunnel_settings

from .spec import End, GatewaySpec

CONFIG, DAEMONS = "/etc/frr/frr.conf", "/etc/frr/daemons"
# Whoever tells more than its cloud may has lost its way, and is heard again after a while. `force` counts those that
# the list refuses, too, and FRR has to keep them for that (soft-reconfiguration); it looks when it believes one.
AGAIN_MINUTES = 5
MOST_PREFIXES = tunnel_settings.CLOUDS["aws"].most_prefixes
# Lists of what is told, usually and by a tunnel that shall draw all traffic; regions' names have no capitals.
OWN, DRAWING = "OWN", "DRAWING"
# How it is told to Azure.
NOT_ON = "NOT-ON"


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
    by_region = groupby(sorted(spec.ends), key=lambda end: (end.region, f"{end.region_cidr} {end.rules.believed}"))
    believed = "\n".join(f"ip prefix-list {region} seq 10 permit {what}".rstrip() for (region, what), _ in by_region)
    block = IPv4Network(spec.block_cidr)
    prefixes = [str(one) for one in (block, *block.subnets())]
    nowhere = "\n".join(f"ip route {one} Null0 250" for one in prefixes)
    networks = "\n".join(f"  network {one}" for one in prefixes)
    sessions = "\n".join(line for end in spec.ends for line in _session(spec, end))
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
{_not_on(spec)}router bgp {spec.asn}
 bgp router-id {spec.address}
 ! A restarting peer would be believed for minutes after its tunnel is gone.
 bgp graceful-restart-disable
 timers bgp {tunnel_settings.HELLO_SECONDS} {tunnel_settings.HOLD_SECONDS}
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


def _session(spec: GatewaySpec, end: End) -> list[str]:
    lines = [f"remote-as {end.asn}", f"description {end.name}"]
    if end.tunnel.cloud == "azure":
        # Azure's end never begins.
        lines.append(f"update-source {spec.speaker(end)}")
        lines.append(f"timers {end.rules.hello_seconds} {end.rules.hold_seconds}")
    return [f" neighbor {end.there} {line}" for line in lines]


def _not_on(spec: GatewaySpec) -> str:
    """Azure passes on to AWS what it hears. With AWS's own numbers in the path no hub there believes it: by Azure it
    would reach the site through a tunnel whose firewall lets Azure's packets pass alone.
    """
    hubs = sorted({end.asn for end in spec.ends if end.tunnel.cloud == "aws"})
    if not spec.azure:
        return ""
    path = f" set as-path prepend {' '.join(map(str, [*hubs, spec.asn]))}\n" if hubs else ""
    return f"route-map {NOT_ON} permit 10\n{path}exit\n!\n"


def _family(end: End) -> str:
    lines = [
        f"prefix-list {OWN} out",
        f"prefix-list {end.region} in",
        "soft-reconfiguration inbound",
        f"maximum-prefix {end.rules.most_prefixes} restart {AGAIN_MINUTES} force",
    ]
    if end.tunnel.cloud == "azure":
        lines.append(f"route-map {NOT_ON} out")
    return "\n".join(f"  neighbor {end.there} {line}" for line in lines)
