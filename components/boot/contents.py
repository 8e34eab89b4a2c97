"""What one machine's bundle holds, as outputs: files without private keys, and keys. The same on every cloud."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import pulumi

from fleet.model import Fleet

from . import people
from .hosts import Shown
from .people import Authority

Material = TypeVar("Material")


class Held(Protocol):
    """Of a bundle."""

    @property
    def files(self) -> dict[str, str]: ...
    @property
    def keys(self) -> dict[str, str]: ...


class Contents(NamedTuple):
    """`files` are made from certificates and public keys alone, so that no mistake can put a private key into them."""

    files: pulumi.Output[dict[str, str]]
    keys: pulumi.Output[dict[str, str]]


def contents(
    fleet: Fleet,
    region: str,
    bundled: Callable[[Material, Authority | None, str], Held],
    material: tuple[pulumi.Output[Material], pulumi.Output[Material]],
    people_authority: pulumi.Input[str],
    shown: Shown,
) -> Contents:
    """`material` is what may be read and then the whole. `bundled` makes a machine's bundle of it, and of what no key
    follows from: who lets people in, and the line of the certificate that the machine shows them.

    `people_authority` is the public line of what signs people's certificates; empty where keys let them in.
    """
    open_, whole = material

    def files(made: Material, line: str, certificate: str) -> dict[str, str]:
        return bundled(made, people.authority(fleet, region, line), certificate).files

    inputs = pulumi.Output.all(people_authority, shown.certificate)
    return Contents(
        open_.apply(lambda made: inputs.apply(lambda known: files(made, *known))),
        whole.apply(lambda made: shown.keys.apply(lambda more: bundled(made, None, "").keys | more)),
    )
