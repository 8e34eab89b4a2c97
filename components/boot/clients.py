"""What people's SSH clients are told of machines. No command that prints it imports a cloud's SDK."""

from collections.abc import Collection, Sequence
from ipaddress import IPv4Network


def known_hosts(names: Sequence[str], line: str) -> str:
    """For a client: which authority, by its public line, vouches for hosts of these names and addresses (sshd(8))."""
    return f"@cert-authority {','.join(names)} {line.strip()}\n"


def called(cidrs: Collection[str], but: Collection[str], name: str) -> str:
    """For a client's configuration: hosts of these prefixes, but for some addresses, go by a name (ssh_config(5)).

    For a certificate's own names can't be patterns: OpenSSH's client takes none then (seen with 9.2).
    """
    which = [*(f"!{address}" for address in but), *(one for cidr in cidrs for one in patterns(cidr))]
    return f"Host {' '.join(which)}\n    HostKeyAlias {name}\n"


def patterns(cidr: str) -> list[str]:
    """A prefix as ssh knows addresses: texts with stars, by whole octets (ssh_config(5), PATTERNS)."""
    network = IPv4Network(cidr)
    octets = -(-network.prefixlen // 8)
    heads = [str(one.network_address).split(".")[:octets] for one in network.subnets(new_prefix=8 * octets)]
    return [".".join([*head, "*"] if octets < 4 else head) for head in heads]
