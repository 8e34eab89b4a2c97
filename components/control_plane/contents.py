"""What one machine's bundle holds, as outputs: files without private keys, and keys. The same on every cloud."""

from typing import NamedTuple

import pulumi

from components.boot import hosts, people
from components.boot.hosts import HostAuthority
from fleet.model import Fleet

from .authority import Authority
from .bundle import bundle
from .machines import ClusterSpec, Machine


class Contents(NamedTuple):
    """`files` are made from certificates and public keys alone, so that no mistake can put a private key into them."""

    files: pulumi.Output[dict[str, str]]
    keys: pulumi.Output[dict[str, str]]


def contents(
    fleet: Fleet,
    spec: ClusterSpec,
    machine: Machine,
    authority: Authority,
    people_authority: pulumi.Input[str],
    vouches: HostAuthority | None,
    parent: pulumi.Resource,
) -> Contents:
    """`people_authority` and `vouches` as in the machine's arguments. What is made for it is a child of `parent`."""
    open_, whole = authority.material(machine, parent)
    name = machine.name.removeprefix(f"{spec.name}-")
    shown = hosts.shown(vouches, name, (machine.host, machine.address), parent)

    def vouched(line: str, certificate: str) -> ClusterSpec:
        return spec._replace(vouching=people.authority(fleet, spec.region, line), shown=certificate)

    known = pulumi.Output.all(people_authority, shown.certificate).apply(lambda both: vouched(*both))
    files: pulumi.Output[dict[str, str]] = open_.apply(
        lambda material: known.apply(lambda of: bundle(of, machine, material).files)
    )
    keys: pulumi.Output[dict[str, str]] = whole.apply(
        lambda material: shown.keys.apply(lambda more: bundle(spec, machine, material).keys | more)
    )
    return Contents(files, keys)
