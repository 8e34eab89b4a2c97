"""Documents as Azure's hosts sign them, with a chain of our own: an authority, an issuer, a signer."""

import base64
import json
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, pkcs7
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID, NameOID

SUBSCRIPTION = "00000000-0000-4000-8000-00000000000a"
VM = "02aab8a4-74ef-476e-8182-f6d2ba4166a6"
STAMP = "%m/%d/%y %H:%M:%S -0000"
Signed = tuple[x509.Certificate, rsa.RSAPrivateKey]


def _made(name: str, by: Signed | None, *, authority: bool, issuers_at: str = "", days: int = 1) -> Signed:
    key = rsa.generate_private_key(65537, 2048)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by[0].subject if by else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if not authority:
        # As Azure's: a web server's.
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        names = x509.SubjectAlternativeName([x509.DNSName(name)])
        builder = builder.add_extension(usage, critical=False).add_extension(names, critical=False)
    if issuers_at:
        place = x509.UniformResourceIdentifier(issuers_at)
        told = x509.AccessDescription(AuthorityInformationAccessOID.CA_ISSUERS, place)
        builder = builder.add_extension(x509.AuthorityInformationAccess([told]), critical=False)
    return builder.sign(by[1] if by else key, hashes.SHA256()), key


def in_der(one: Signed) -> str:
    return base64.b64encode(one[0].public_bytes(Encoding.DER)).decode()


class Chain:
    """`trust` is the authority as a system has those of the world; `issuer` is what a document lacks."""

    def __init__(self, folder: Path, issuers_at: str = "", *, above_at: str = "") -> None:
        """With `above_at` there is one more between the authority and the issuer, whose certificate is there."""
        self.authority = _made("An authority of the world", None, authority=True)
        self.above = _made("An issuer's issuer", self.authority, authority=True) if above_at else self.authority
        self.between = _made("An issuer", self.above, authority=True, issuers_at=above_at)
        self.issuers_at = issuers_at
        self.file = folder / "authorities.pem"
        self.file.write_bytes(self.authority[0].public_bytes(Encoding.PEM))
        self.trust = ssl.DefaultVerifyPaths(str(self.file), None, "", "", "", "")

    @property
    def issuer(self) -> str:
        return in_der(self.between)

    def signed(self, content: Any, name: str = "metadata.azure.com", *, by: Signed | None = None, days: int = 1) -> str:
        """PKCS #7 in base64, with the signer's certificate alone."""
        signer, key = _made(name, by or self.between, authority=False, issuers_at=self.issuers_at, days=days)
        text = content if isinstance(content, bytes) else json.dumps(content).encode()
        made = pkcs7.PKCS7SignatureBuilder().set_data(text).add_signer(signer, key, hashes.SHA256())
        return base64.b64encode(made.sign(Encoding.DER, [pkcs7.PKCS7Options.Binary])).decode()


def content(nonce: str, **other: Any) -> dict[str, Any]:
    """As Azure documents it ("Azure Instance Metadata Service", attested data)."""
    now = datetime.now(UTC)
    return {
        "licenseType": "",
        "nonce": nonce,
        "plan": {"name": "", "product": "", "publisher": ""},
        "sku": "",
        "subscriptionId": SUBSCRIPTION,
        "timeStamp": {"createdOn": now.strftime(STAMP), "expiresOn": (now + timedelta(hours=6)).strftime(STAMP)},
        "vmId": VM,
    } | other
