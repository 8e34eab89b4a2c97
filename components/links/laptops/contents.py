"""What a server's bundle holds, the same on every cloud."""

from typing import NamedTuple

import pulumi

from components.boot import hosts, people
from components.boot.hosts import HostAuthority
from fleet.model import Fleet

from .keys import Keys
from .machine import bundle
from .spec import LaptopsSpec, Server


class Contents(NamedTuple):
    """`files` are made without private keys, so that no mistake can put one into the bucket."""

    files: pulumi.Output[dict[str, str]]
    keys: pulumi.Output[dict[str, str]]


def contents(
    fleet: Fleet,
    spec: LaptopsSpec,
    server: Server,
    authority: Keys,
    authorities: tuple[pulumi.Input[str], pulumi.Input[str]],
    vouching: HostAuthority | None,
    parent: pulumi.Resource,
) -> Contents:
    """`authorities` are the cluster's, in PEM, and people's public line; `vouching` is whose certificate it shows."""
    cluster, line = authorities
    open_, whole = authority.material(server, cluster, parent)
    shown = hosts.shown(vouching, server.name, (server.host,), parent)

    def vouched(line: str, certificate: str) -> LaptopsSpec:
        return spec._replace(vouching=people.authority(fleet, spec.region, line), shown=certificate)

    told = pulumi.Output.all(line, shown.certificate).apply(lambda both: vouched(*both))
    files: pulumi.Output[dict[str, str]] = open_.apply(
        lambda material: told.apply(lambda known: bundle(known, server, material).files)
    )
    keys: pulumi.Output[dict[str, str]] = whole.apply(
        lambda material: shown.keys.apply(lambda more: bundle(spec, server, material).keys | more)
    )
    return Contents(files, keys)
