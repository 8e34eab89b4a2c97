"""Vouches for a stack's machines to people's SSH clients: keys made by the tls provider, certificates by ourselves.

Each stack has an authority of its own, whose key leaves its state no more than those of its machines do.
"""

from collections.abc import Sequence
from typing import NamedTuple

import pulumi
import pulumi_tls as tls

from fleet.logins import HOSTS
from fleet.model import Fleet

from .certificates import issue_host, signing
from .clients import known_hosts
from .people import HOST_KEY, Login, shows


class Shown(NamedTuple):
    """What a machine shows to clients: the line of its certificate, which is public, and its private key."""

    certificate: pulumi.Input[str]
    key: pulumi.Input[str]

    @property
    def keys(self) -> pulumi.Output[dict[str, str]]:
        """Those of the machine's bundle; none where it makes its own."""
        key: pulumi.Output[str] = pulumi.Output.from_input(self.key)
        return key.apply(lambda private: {HOST_KEY: private} if private else {})


# Its clients learn the key that it makes itself.
NOTHING = Shown("", "")


class HostAuthority(pulumi.ComponentResource):
    """`line` is its public key, for clients' known_hosts.

    Clients that know it refuse the stack's machines when it is another one: landbridge/up/guards.py refuses that.
    """

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:boot:HostAuthority", name, None, opts)
        self.key = tls.PrivateKey(HOSTS, algorithm="ED25519", opts=pulumi.ResourceOptions(parent=self))
        self.line: pulumi.Output[str] = self.key.public_key_openssh
        self.register_outputs({})

    def shown(self, name: str, names: Sequence[str], parent: pulumi.Resource) -> Shown:
        own = tls.PrivateKey(f"{HOSTS}-{name}", algorithm="ED25519", opts=pulumi.ResourceOptions(parent=parent))
        signed = pulumi.Output.all(self.key.private_key_pem, own.public_key_openssh).apply(
            lambda both: issue_host(signing(both[0]), name, names, both[1])
        )
        return Shown(pulumi.Output.unsecret(signed), own.private_key_openssh)


def host_authority(fleet: Fleet, logins: Sequence[Login], opts: pulumi.ResourceOptions) -> HostAuthority | None:
    """None where keys let people in, and where nobody logs in."""
    return HostAuthority(HOSTS, opts) if shows(fleet, logins) else None


def shown(hosts: HostAuthority | None, name: str, names: Sequence[str], parent: pulumi.Resource) -> Shown:
    """For a machine, or for machines that are alike; `names` are what clients may mean by it."""
    return hosts.shown(name, names, parent) if hosts else NOTHING


def known(hosts: HostAuthority | None, names: Sequence[str]) -> pulumi.Input[str]:
    """A stack's line for clients; empty where its machines have no certificates."""
    return hosts.line.apply(lambda line: known_hosts(names, line)) if hosts else ""
