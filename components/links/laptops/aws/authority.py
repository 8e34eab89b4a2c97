"""A region's authority for laptops on AWS: its key is kept in Secrets Manager."""

from typing import TypedDict

import pulumi
import pulumi_aws as aws

from components.tags import Owner
from fleet.laptops import AUTHORITY, authority_place

from ..keys import Keys
from ..spec import LaptopsSpec


class LaptopsAuthorityArgs(TypedDict):
    """`key_arn` is the region's key."""

    spec: LaptopsSpec
    owner: Owner
    key_arn: pulumi.Input[str]


class LaptopsAuthority(Keys):
    """As `keys` has it."""

    def __init__(self, name: str, args: LaptopsAuthorityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args["spec"], opts)
        secret = aws.secretsmanager.Secret(
            name,
            name=authority_place(self.spec.fleet),
            description=f"What signs certificates for laptops in {self.spec.region}",
            kms_key_id=args["key_arn"],
            # A name that waits for its end would keep the next region of this name from coming up.
            recovery_window_in_days=0,
            tags=args["owner"].tags(f"{name}-{AUTHORITY}"),
            opts=self.child,
        )
        aws.secretsmanager.SecretVersion(name, secret_id=secret.id, secret_string=self.secret_value, opts=self.child)
        self.register_outputs({})
