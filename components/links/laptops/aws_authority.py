"""A region's authority for laptops as resources: made by the tls and random providers, kept in Secrets Manager."""

from typing import TypedDict

import pulumi
import pulumi_aws as aws
import pulumi_random as random
import pulumi_tls as tls

from components.control_plane.pki import AUTHORITY_HOURS, CERTIFICATE_HOURS, RENEWAL_HOURS
from components.tags import Owner
from fleet.laptops import AUTHORITY, SIGNING, WRAPPING, authority_place

from .machine import Material
from .spec import LaptopsSpec, Server
from .wrapping import SERVER_BYTES, server_key

CURVE = "P256"
Text = pulumi.Output[str]


class LaptopsAuthorityArgs(TypedDict):
    """`key_arn` is the region's key."""

    spec: LaptopsSpec
    owner: Owner
    key_arn: pulumi.Input[str]


class LaptopsAuthority(pulumi.ComponentResource):
    """`certificate` is the authority's, `verify_key` that of the servers' manifests, which `signing` signs.

    With another key no profile is worth anything: landbridge/guards.py refuses that. It lies in the state, encrypted,
    and in the secret that `landbridge vpn` reads; no machine may read that.
    """

    def __init__(self, name: str, args: LaptopsAuthorityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:LaptopsAuthority", name, None, opts)
        self.spec = args["spec"]
        self.child = pulumi.ResourceOptions(parent=self)
        self.key = tls.PrivateKey(name, algorithm="ECDSA", ecdsa_curve=CURVE, opts=self.child)
        made = tls.SelfSignedCert(
            name,
            private_key_pem=self.key.private_key_pem,
            subject={"common_name": f"{self.spec.fleet}-{self.spec.region}-laptops"},
            is_ca_certificate=True,
            set_subject_key_id=True,
            validity_period_hours=AUTHORITY_HOURS,
            allowed_uses=["cert_signing", "crl_signing"],
            opts=self.child,
        )
        self.certificate: Text = made.cert_pem
        self.wrapping: Text = random.RandomBytes(WRAPPING, length=SERVER_BYTES, opts=self.child).base64
        pair = tls.PrivateKey(SIGNING, algorithm="ED25519", opts=self.child)
        self.signing: Text = pair.private_key_pem
        # The body of a public key's PEM is base64 of its DER form.
        self.verify_key: Text = pair.public_key_pem.apply(lambda pem: "".join(pem.strip().splitlines()[1:-1]))
        self._keep(name, args["owner"], args["key_arn"])
        self.register_outputs({})

    def material(
        self, server: Server, cluster: pulumi.Input[str], parent: pulumi.Resource
    ) -> tuple[pulumi.Output[Material], pulumi.Output[Material]]:
        """What a server's bundle is made from: without private keys, which is no secret, and with them."""
        child = pulumi.ResourceOptions(parent=parent)
        key = tls.PrivateKey(server.name, algorithm="ECDSA", ecdsa_curve=CURVE, opts=child)
        request = tls.CertRequest(
            server.name,
            private_key_pem=key.private_key_pem,
            subject={"common_name": server.host},
            dns_names=[server.host],
            opts=child,
        )
        signed = tls.LocallySignedCert(
            server.name,
            cert_request_pem=request.cert_request_pem,
            ca_cert_pem=self.certificate,
            ca_private_key_pem=self.key.private_key_pem,
            validity_period_hours=CERTIFICATE_HOURS,
            early_renewal_hours=RENEWAL_HOURS,
            allowed_uses=["digital_signature", "server_auth"],
            opts=child,
        )
        public = (self.certificate, signed.cert_pem)
        open_ = pulumi.Output.all(*public, "", "", cluster)
        whole = pulumi.Output.all(*public, key.private_key_pem, self.wrapping.apply(server_key), cluster)
        return open_.apply(lambda told: Material(*told)), whole.apply(lambda told: Material(*told))

    def _keep(self, name: str, owner: Owner, key_arn: pulumi.Input[str]) -> None:
        secret = aws.secretsmanager.Secret(
            name,
            name=authority_place(self.spec.fleet),
            description=f"What signs certificates for laptops in {self.spec.region}",
            kms_key_id=key_arn,
            # A name that waits for its end would keep the next region of this name from coming up.
            recovery_window_in_days=0,
            tags=owner.tags(f"{name}-{AUTHORITY}"),
            opts=self.child,
        )
        told = {"crt": self.certificate, "key": self.key.private_key_pem, "wrapping": self.wrapping}
        text = pulumi.Output.json_dumps(told)
        aws.secretsmanager.SecretVersion(name, secret_id=secret.id, secret_string=text, opts=self.child)
