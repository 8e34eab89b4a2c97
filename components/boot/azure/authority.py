"""A region's authority for people's certificates by SSH on Azure, as `aws_authority`: kept in the region's vault."""

from typing import TypedDict

import pulumi
import pulumi_tls as tls

from components.control_plane.azure.singleton import life, secret, vaulted
from components.tags import Owner
from fleet.buckets import resource_group, vault_name
from fleet.logins import PLACE, authority_place
from fleet.model import Fleet


class PeopleAuthorityArgs(TypedDict):
    """The vault follows from fleet and region; `operators` lets us at what is in it, until that is gone again."""

    fleet: Fleet
    region: str
    owner: Owner
    operators: pulumi.Resource


class PeopleAuthority(pulumi.ComponentResource):
    """`line` is its public key as machines are told it; `place` names its secret.

    Another key lets nobody in before every machine has its new bundle: landbridge/up/guards.py refuses that. It lies in
    the state, encrypted, and in the secret that `landbridge ssh` reads; no machine may read that.
    """

    def __init__(self, name: str, args: PeopleAuthorityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:boot:PeopleAuthority", name, None, opts)
        fleet, child = args["fleet"], pulumi.ResourceOptions(parent=self)
        key = tls.PrivateKey(PLACE, algorithm="ED25519", opts=child)
        self.line: pulumi.Output[str] = key.public_key_openssh.apply(str.strip)
        self.place: pulumi.Output[str] = self.line.apply(lambda line: f"{authority_place(fleet.fleet)}/{life(line)}")
        secret(
            PLACE,
            resource_group(fleet, args["region"]),
            vault_name(fleet, args["region"]),
            self.place.apply(vaulted),
            pulumi.Output.json_dumps({"key": key.private_key_pem}),
            args["owner"].tags(f"{PLACE}-authority"),
            pulumi.ResourceOptions(parent=self, depends_on=[args["operators"]]),
        )
        self.register_outputs({})
