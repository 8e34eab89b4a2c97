"""Prefixes that are never given out, each with the reason. Sources are named where the reason is somebody's rule."""

from .blocks import Block, parse

RESERVED: tuple[tuple[str, str], ...] = (
    ("0.0.0.0/8", "this network (RFC 1122)"),
    ("10.0.0.0/23", "home and office LANs"),
    ("10.1.1.0/24", "home and office LANs"),
    ("10.1.10.0/24", "home and office LANs"),
    ("10.8.0.0/24", "OpenVPN's example network, in use on many laptops"),
    ("10.42.0.0/15", "k3s: pods and services of laptops' clusters"),
    ("10.88.0.0/16", "Podman's default network"),
    ("127.0.0.0/8", "loopback; refused by Azure"),
    ("168.63.129.16/32", "Azure's platform address, refused in a VNet"),
    ("169.254.0.0/16", "link-local, refused by AWS and Azure; tunnels have a pool of their own"),
    ("172.17.0.0/16", "Docker's bridge; AWS Cloud9 and SageMaker use it too"),
    ("172.18.0.0/15", "Docker's next networks"),
    ("172.20.0.0/14", "Docker's next networks"),
    ("172.24.0.0/13", "Docker's next networks and AWS's default VPC"),
    ("192.168.0.0/16", "home LANs and Docker's next networks"),
    ("198.18.0.0/15", "benchmarking (RFC 2544); AWS refuses to mix it with private ranges"),
    ("224.0.0.0/3", "multicast and reserved; refused by AWS and Azure"),
)

# Inside addresses of tunnels: link-local by both clouds' rule. AWS's VPN guide lists the /30s it keeps; containers on
# ECS and EKS ask 169.254.170.0/23 for credentials, NodeLocal DNSCache answers on 169.254.20.10, metadata on .169.254.
TUNNEL_ROOT = "169.254.0.0/16"
TUNNEL_RESERVED: tuple[tuple[str, str], ...] = (
    ("169.254.0.0/21", "kept by AWS VPN: 169.254.0.0/30 to 169.254.5.0/30"),
    ("169.254.20.0/24", "NodeLocal DNSCache"),
    ("169.254.169.0/24", "instance metadata; 169.254.169.252/30 is kept by AWS VPN"),
    ("169.254.170.0/23", "credentials of ECS and EKS agents"),
    ("169.254.255.0/24", "last /24, reserved by RFC 3927"),
)
# Azure's gateways take BGP addresses from 169.254.21.0 to 169.254.22.255 and nowhere else.
AZURE_TUNNEL_ROOTS = ("169.254.21.0/24", "169.254.22.0/24")


def reserved_blocks() -> list[Block]:
    return [parse(cidr) for cidr, _ in RESERVED]


def why_reserved(block: Block) -> str | None:
    """The reason why a prefix can't be used, or None when it can."""
    for cidr, why in RESERVED:
        if parse(cidr).overlaps(block):
            return f"{cidr} is {why}"
    return None
