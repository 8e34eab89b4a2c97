"""An interface a tunnel, made by systemd-networkd and never taken away: BGP's sessions outlive a tunnel's keys."""

from components.links import tunnel_settings

from .spec import End, GatewaySpec

FOLDER = "/etc/systemd/network"
SYSCTL = "/etc/sysctl.d/60-landbridge.conf"


def files(spec: GatewaySpec) -> dict[str, str]:
    found = {SYSCTL: sysctl()}
    for end in spec.ends:
        found |= {f"{FOLDER}/50-{end.device}.netdev": device(end), f"{FOLDER}/50-{end.device}.network": network(end)}
    return found


def device(end: End) -> str:
    return f"""\
[NetDev]
Description=tunnel {end.tunnel.number} to {end.region}
Name={end.device}
Kind=xfrm
MTUBytes={tunnel_settings.MTU}

[Xfrm]
InterfaceId={end.key}
Independent=yes
"""


def network(end: End) -> str:
    return f"""\
[Match]
Name={end.device}

[Link]
RequiredForOnline=no

[Network]
Address={end.tunnel.gateway_address}/30
ConfigureWithoutCarrier=yes
LinkLocalAddressing=no
IPv6AcceptRA=no
"""


def sysctl() -> str:
    """Answers may come back by another tunnel than questions left by: AWS chooses its own."""
    return """\
net.ipv4.ip_forward = 1
net.ipv4.conf.all.rp_filter = 2
net.ipv4.conf.all.send_redirects = 0
net.ipv4.conf.default.send_redirects = 0
net.ipv4.conf.all.accept_redirects = 0
net.ipv4.conf.default.accept_redirects = 0
net.ipv4.fib_multipath_hash_policy = 1
"""
