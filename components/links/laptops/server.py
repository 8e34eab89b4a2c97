"""A server's OpenVPN configuration. Routes are pushed for what the plan has and for nothing else."""

from ipaddress import IPv4Network

from .spec import MTU, PORT, LaptopsSpec, Server

FOLDER = "/etc/landbridge/laptops"
CONFIG = f"{FOLDER}/server.conf"
AUTHORITY, CERTIFICATE, KEY, WRAPPING = (
    f"{FOLDER}/{name}" for name in ("ca.crt", "server.crt", "server.key", "wrapping.key")
)
# Made on the machine: who is let in no more, and the way to end a session.
STATE, RUN = "/var/lib/landbridge/laptops", "/run/landbridge-laptops"
REVOKED, MANAGEMENT = f"{STATE}/revoked.pem", f"{RUN}/management"
DEVICE = "laptops"
# A laptop that says nothing for two minutes is gone (the server doubles the second number, openvpn(8)).
ASK_SECONDS, SILENT_SECONDS = 10, 60


def config(spec: LaptopsSpec, server: Server) -> str:
    pool = IPv4Network(server.pool_cidr)
    given = [
        # Where it listens, and what it is.
        f"port {PORT}",
        "proto udp4",
        f"dev {DEVICE}",
        "dev-type tun",
        "disable-dco",
        "topology subnet",
        f"server {pool.network_address} {pool.netmask}",
        f"tun-mtu {MTU}",
        f"max-clients {pool.num_addresses - 4}",
        # Who may come in: whose certificate is this authority's, for a client, and not revoked.
        f"ca {AUTHORITY}",
        f"cert {CERTIFICATE}",
        f"key {KEY}",
        "dh none",
        f"crl-verify {REVOKED}",
        "verify-client-cert require",
        "remote-cert-tls client",
        f"tls-crypt-v2 {WRAPPING}",
        "tls-version-min 1.3",
        "data-ciphers AES-256-GCM",
        # What a laptop is told.
        *(f'push "route {net.network_address} {net.netmask}"' for net in map(IPv4Network, _cidrs(spec))),
        f'push "dhcp-option DNS {names(spec, server)}"',
        f'push "dhcp-option DOMAIN {spec.domain}"',
        f"keepalive {ASK_SECONDS} {SILENT_SECONDS}",
        "explicit-exit-notify 1",
        # How it runs.
        f"management {MANAGEMENT} unix",
        "user nobody",
        "group nogroup",
        "persist-key",
        "persist-tun",
        "script-security 1",
        "suppress-timestamps",
        "verb 3",
    ]
    return "\n".join(given) + "\n"


def names(spec: LaptopsSpec, server: Server) -> str:
    """Whom laptops ask for names: the region's resolver, or the server in the tunnel, which asks that one for them."""
    return str(IPv4Network(server.pool_cidr)[1]) if spec.own_name else spec.resolver


def _cidrs(spec: LaptopsSpec) -> list[str]:
    return [cidr for _, cidr in spec.reached]
