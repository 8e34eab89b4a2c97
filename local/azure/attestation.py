"""Documents that say which machine somebody is, signed as Azure's host signs them.

Azure docs, "Azure Instance Metadata Service", "Attested data": PKCS #7 with its content and with the signer's
certificate, metadata.azure.com's, alone. That names where its issuer's is to be had, which an authority that everybody
trusts vouches for: here the local Azure's own.
"""

import base64
import functools
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, pkcs7
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID, NameOID

from local.authority import Authority

from . import metadata
from .errors import bad_request
from .kinds import World
from .names import PKI

SIGNER = "metadata.azure.com"
ISSUER = "Microsoft Azure RSA TLS Issuing CA 07"
# Below http://www.microsoft.com.
PATH = "/pkiops/certs/Microsoft%20Azure%20RSA%20TLS%20Issuing%20CA%2007%20-%20xsign.crt"
LASTING, CERTIFICATE = timedelta(hours=6), timedelta(days=30)
STAMP = "%m/%d/%y %H:%M:%S -0000"
NONCE = re.compile(r"\d{1,10}", re.ASCII)
BITS = 2048


class Attestation:
    """Signs for one local Azure. Its keys are made when they are first needed, and never leave this process."""

    def __init__(self, authority: Authority) -> None:
        self.authority = authority

    def document(self, world: World, machine: str, nonce: str = "") -> dict[str, str]:
        """Instance metadata's answer to a machine, by its id. Raises ArmError for a number that is none."""
        if nonce and not NONCE.fullmatch(nonce):
            raise bad_request("BadRequest", "The nonce is not a string of at most ten digits")
        content = json.dumps(_content(world, machine, nonce, datetime.now(UTC)), separators=(",", ":"))
        key, certificate = self._signer
        signed = pkcs7.PKCS7SignatureBuilder().set_data(content.encode()).add_signer(certificate, key, hashes.SHA256())
        signature = signed.sign(Encoding.DER, [pkcs7.PKCS7Options.Binary])
        return {"encoding": "pkcs7", "signature": base64.b64encode(signature).decode()}

    def issuer(self) -> bytes:
        """The certificate of the signer's issuer, in DER."""
        return self._issuer[1].public_bytes(Encoding.DER)

    @functools.cached_property
    def _issuer(self) -> tuple[rsa.RSAPrivateKey, x509.Certificate]:
        key = rsa.generate_private_key(65_537, BITS)
        return key, self.authority.below(ISSUER, key.public_key())

    @functools.cached_property
    def _signer(self) -> tuple[rsa.RSAPrivateKey, x509.Certificate]:
        issuing, issuer = self._issuer
        key, now = rsa.generate_private_key(65_537, BITS), datetime.now(UTC)
        place = x509.UniformResourceIdentifier(f"http://{PKI}{PATH}")
        extensions: list[x509.ExtensionType] = [
            x509.BasicConstraints(ca=False, path_length=None),
            x509.SubjectAlternativeName([x509.DNSName(SIGNER), x509.DNSName(f"*.{SIGNER}")]),
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]),
            x509.AuthorityInformationAccess([x509.AccessDescription(AuthorityInformationAccessOID.CA_ISSUERS, place)]),
            x509.SubjectKeyIdentifier.from_public_key(key.public_key()),
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuing.public_key()),
        ]
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, SIGNER)]))
            .issuer_name(issuer.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + CERTIFICATE - timedelta(hours=1))
        )
        for one in extensions:
            builder = builder.add_extension(one, critical=isinstance(one, x509.BasicConstraints))
        return key, builder.sign(issuing, hashes.SHA256())


def _content(world: World, machine: str, nonce: str, now: datetime) -> dict[str, Any]:
    """What is signed; without a number of the caller's, the time stands for it."""
    compute = metadata.document(world, world.store.get(machine))["compute"]
    return {
        "licenseType": compute["licenseType"],
        "nonce": nonce or f"{now:%Y%m%d-%H%M%S}",
        "plan": compute["plan"],
        "sku": compute["sku"],
        "subscriptionId": compute["subscriptionId"],
        "timeStamp": {"createdOn": now.strftime(STAMP), "expiresOn": (now + LASTING).strftime(STAMP)},
        "vmId": compute["vmId"],
    }
