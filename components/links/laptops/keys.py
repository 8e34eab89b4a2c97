"""A region's authority for laptops as resources, made by the tls and random providers: the same on every cloud.

What keeps its key, aws/authority.py and azure/authority.py say.
"""

import pulumi
import pulumi_random as random
import pulumi_tls as tls

from components.control_plane.pki import AUTHORITY_HOURS, CERTIFICATE_HOURS, RENEWAL_HOURS
from fleet.laptops import SIGNING, WRAPPING

from .machine import Material
from .spec import LaptopsSpec, Server
from .wrapping import SERVER_BYTES, server_key

CURVE = "P256"
Text = pulumi.Output[str]


class Keys(pulumi.ComponentResource):
    """`certificate` is the authority's, `verify_key` that of the servers' manifests, which `signing` signs.

    With another key no profile is worth anything: landbridge/up/guards.py refuses that. It lies in the state,
    encrypted, and in the secret that `landbridge vpn` reads; no machine may read that.
    """

    def __init__(self, name: str, spec: LaptopsSpec, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:LaptopsAuthority", name, None, opts)
        self.spec = spec
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
        self.signing_public: Text = pair.public_key_pem
        # The body of a public key's PEM is base64 of its DER form.
        self.verify_key: Text = pair.public_key_pem.apply(lambda pem: "".join(pem.strip().splitlines()[1:-1]))

    @property
    def secret_value(self) -> Text:
        """What the secret holds: authority.read."""
        secrets = {"crt": self.certificate, "key": self.key.private_key_pem, "wrapping": self.wrapping}
        return pulumi.Output.json_dumps(secrets)

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
        return open_.apply(lambda fields: Material(*fields)), whole.apply(lambda fields: Material(*fields))
