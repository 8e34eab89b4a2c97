"""What a server's bundle holds, as outputs."""

import pulumi

from components.boot import contents as of_bundle
from components.boot import hosts
from components.boot.contents import Contents
from components.boot.hosts import HostAuthority
from fleet.model import Fleet

from .keys import Keys
from .machine import bundle
from .spec import LaptopsSpec, Server


def contents(
    fleet: Fleet,
    spec: LaptopsSpec,
    server: Server,
    authority: Keys,
    authorities: tuple[pulumi.Input[str], pulumi.Input[str]],
    vouches: HostAuthority | None,
    parent: pulumi.Resource,
) -> Contents:
    """`authorities` are the cluster's, in PEM, and people's public line; `vouches` is whose certificate it shows."""
    cluster, people_authority = authorities
    return of_bundle.contents(
        fleet,
        spec.region,
        lambda made, people, shown: bundle(spec._replace(vouching=people, shown=shown), server, made),
        authority.material(server, cluster, parent),
        people_authority,
        hosts.shown(vouches, server.name, (server.host,), parent),
    )
