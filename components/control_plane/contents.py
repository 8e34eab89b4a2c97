"""What one machine's bundle holds, as outputs."""

import pulumi

from components.boot import contents as of_bundle
from components.boot import hosts
from components.boot.contents import Contents
from components.boot.hosts import HostAuthority
from fleet.model import Fleet

from .authority import Authority
from .bundle import bundle
from .machines import ClusterSpec, Machine


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
    material = authority.material(machine, parent)
    name = machine.name.removeprefix(f"{spec.name}-")
    return of_bundle.contents(
        fleet,
        spec.region,
        lambda made, people, shown: bundle(spec._replace(vouching=people, shown=shown), machine, made),
        material,
        people_authority,
        hosts.shown(vouches, name, (machine.host, machine.address), parent),
    )
