"""Certificates as a cluster's authority makes them for nodes, and as it would never make them."""

import datetime
from pathlib import Path
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NODE, DAY = "system:node:host-1.lab", datetime.timedelta(days=1)


class Pair(NamedTuple):
    certificate: x509.Certificate
    key: Any

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def file(self, folder: Path) -> Path:
        """As the kubelet keeps it."""
        form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        (folder / "pair.pem").write_text(self.pem + self.key.private_bytes(*form).decode())
        return folder / "pair.pem"


def certificate(
    name: str = NODE,
    issuer: Pair | None = None,
    *,
    organization: str = "system:nodes",
    ca: bool = False,
    key: Any = None,
    begins: datetime.timedelta = -DAY,
    ends: datetime.timedelta = DAY,
    signs: bool = True,
    purpose: x509.ObjectIdentifier = ExtendedKeyUsageOID.CLIENT_AUTH,
    now: datetime.datetime | None = None,
) -> Pair:
    key, now = key or ec.generate_private_key(ec.SECP256R1()), now or datetime.datetime.now(datetime.UTC)
    subject = x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization), x509.NameAttribute(NameOID.COMMON_NAME, name)]
    )
    uses = dict.fromkeys(
        (
            "content_commitment",
            "key_encipherment",
            "data_encipherment",
            "key_agreement",
            "encipher_only",
            "decipher_only",
        ),
        False,
    )
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + begins)
        .not_valid_after(now + ends)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(digital_signature=signs, key_cert_sign=ca, crl_sign=ca, **uses), critical=True)
    )
    if not ca:
        made = made.add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
    return Pair(made.sign(issuer.key if issuer else key, hashes.SHA256()), key)
