"""A region's authority for people's certificates by SSH: made by the tls provider, kept in Secrets Manager."""

from typing import TypedDict

import pulumi
import pulumi_aws as aws
import pulumi_tls as tls

from components.tags import Owner
from fleet.logins import PLACE, authority_place
from fleet.model import Fleet


class PeopleAuthorityArgs(TypedDict):
    """`key_arn` is the region's key."""

    fleet: Fleet
    owner: Owner
    key_arn: pulumi.Input[str]


class PeopleAuthority(pulumi.ComponentResource):
    """`line` is its public key as machines are told it.

    Another key lets nobody in before every machine has its new bundle: landbridge/up/guards.py refuses that. It lies in
    the state, encrypted, and in the secret that `landbridge ssh` reads; no machine may read that.
    """

    def __init__(self, name: str, args: PeopleAuthorityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:boot:PeopleAuthority", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        key = tls.PrivateKey(PLACE, algorithm="ED25519", opts=child)
        self.line: pulumi.Output[str] = key.public_key_openssh.apply(str.strip)
        secret = aws.secretsmanager.Secret(
            PLACE,
            name=authority_place(args["fleet"].fleet),
            description="What signs people's certificates for SSH",
            kms_key_id=args["key_arn"],
            # A name that waits for its end would keep the next region of this name from coming up.
            recovery_window_in_days=0,
            tags=args["owner"].tags(f"{PLACE}-authority"),
            opts=child,
        )
        text = pulumi.Output.json_dumps({"key": key.private_key_pem})
        aws.secretsmanager.SecretVersion(PLACE, secret_id=secret.id, secret_string=text, opts=child)
        self.register_outputs({})
