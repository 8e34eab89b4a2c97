"""A region's authority for laptops on Azure: its key is kept in the region's vault."""

from typing import TypedDict

import pulumi

from components.control_plane.azure.singleton import life, secret, vaulted
from components.tags import Owner
from fleet.buckets import resource_group
from fleet.laptops import AUTHORITY, authority_place
from fleet.model import Fleet

from ..keys import Keys
from ..spec import LaptopsSpec


class LaptopsAuthorityArgs(TypedDict):
    """The vault follows from fleet and region."""

    fleet: Fleet
    spec: LaptopsSpec
    owner: Owner


class LaptopsAuthority(Keys):
    """As `keys` has it. `place` names its secret.

    A vault keeps the names of what was deleted: those of the stack's secrets end in its `life`.
    """

    def __init__(self, name: str, args: LaptopsAuthorityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args["spec"], opts)
        self.life: pulumi.Output[str] = self.signing_public.apply(life)
        self.place: pulumi.Output[str] = pulumi.Output.concat(authority_place(self.spec.fleet), "/", self.life)
        secret(
            name,
            resource_group(args["fleet"], self.spec.region),
            self.spec.vault,
            self.place.apply(vaulted),
            self.secret_value,
            args["owner"].tags(f"{name}-{AUTHORITY}"),
            self.child,
        )
        self.register_outputs({})
