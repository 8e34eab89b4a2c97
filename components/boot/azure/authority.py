"""A region's authority for people's certificates by SSH on Azure: its key is kept in the region's vault."""

from typing import TypedDict

import pulumi

from components.control_plane.azure.singleton import life, secret, vaulted
from components.tags import Owner
from fleet.buckets import resource_group, vault_name
from fleet.logins import PLACE, authority_place
from fleet.model import Fleet

from ..authority import AnyPeopleAuthority


class PeopleAuthorityArgs(TypedDict):
    """The vault follows from fleet and region; `operators` lets us at what is in it, until that is gone again."""

    fleet: Fleet
    region: str
    owner: Owner
    operators: pulumi.Resource


class PeopleAuthority(AnyPeopleAuthority):
    """As `AnyPeopleAuthority` has it. `place` names its secret."""

    def __init__(self, name: str, args: PeopleAuthorityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        fleet = args["fleet"]
        self.place: pulumi.Output[str] = self.line.apply(lambda line: f"{authority_place(fleet.fleet)}/{life(line)}")
        secret(
            PLACE,
            resource_group(fleet, args["region"]),
            vault_name(fleet, args["region"]),
            self.place.apply(vaulted),
            self.secret_value,
            args["owner"].tags(f"{PLACE}-authority"),
            pulumi.ResourceOptions(parent=self, depends_on=[args["operators"]]),
        )
        self.register_outputs({})
