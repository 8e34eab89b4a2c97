"""A region's authority for people's certificates by SSH: made by the tls provider, the same on every cloud.

What keeps its key, aws/authority.py and azure/authority.py say.
"""

import pulumi
import pulumi_tls as tls

from fleet.logins import PLACE


class AnyPeopleAuthority(pulumi.ComponentResource):
    """`line` is its public key as machines are told it; `secret_value` what the secret holds.

    Another key lets nobody in before every machine has its new bundle: landbridge/up/guards.py refuses that. It lies in
    the state, encrypted, and in the secret that `landbridge ssh` reads; no machine may read that.
    """

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:boot:PeopleAuthority", name, None, opts)
        self.child = pulumi.ResourceOptions(parent=self)
        key = tls.PrivateKey(PLACE, algorithm="ED25519", opts=self.child)
        self.line: pulumi.Output[str] = key.public_key_openssh.apply(str.strip)
        self.secret_value: pulumi.Output[str] = pulumi.Output.json_dumps({"key": key.private_key_pem})
