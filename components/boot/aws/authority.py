"""A region's authority for people's certificates by SSH on AWS: its key is kept in Secrets Manager."""

from typing import TypedDict

import pulumi
import pulumi_aws as aws

from components.tags import Owner
from fleet.logins import PLACE, authority_place
from fleet.model import Fleet

from ..authority import AnyPeopleAuthority


class PeopleAuthorityArgs(TypedDict):
    """`key_arn` is the region's key."""

    fleet: Fleet
    owner: Owner
    key_arn: pulumi.Input[str]


class PeopleAuthority(AnyPeopleAuthority):
    """As `AnyPeopleAuthority` has it."""

    def __init__(self, name: str, args: PeopleAuthorityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        secret = aws.secretsmanager.Secret(
            PLACE,
            name=authority_place(args["fleet"].fleet),
            description="What signs people's certificates for SSH",
            kms_key_id=args["key_arn"],
            # A name that waits for its end would keep the next region of this name from coming up.
            recovery_window_in_days=0,
            tags=args["owner"].tags(f"{PLACE}-authority"),
            opts=self.child,
        )
        aws.secretsmanager.SecretVersion(PLACE, secret_id=secret.id, secret_string=self.secret_value, opts=self.child)
        self.register_outputs({})
