"""The authority for laptops: people's certificates and the list of revoked ones, made on the operator's computer.

Its key and its own certificate are the region's stack's (keys.py) and lie in its secrets store alone.
"""

import datetime
import json
import secrets
from collections.abc import Iterable
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAYS, MOST_DAYS = 90, 366
# OpenVPN lets nobody in by a list that has ended: long enough that a team's holidays do not shut everybody out. Each
# certificate that is given or revoked makes it anew.
LIST_DAYS, LIST_WARNING_DAYS = 180, 30
# So far may clocks of an operator and of a server be apart.
SKEW = datetime.timedelta(hours=1)
# An ended certificate is refused anyway: it stays on the list for a day, for clocks that are behind.
LISTED = datetime.timedelta(days=1)


class Authority(NamedTuple):
    """PEM of its certificate and its key, and base64 of the servers' wrapping key: what the secret holds."""

    certificate: str
    key: str
    wrapping: str


class Certificate(NamedTuple):
    """`serial` is sixteen hexadecimal digits; `pem` the certificate, `key` its private key in PEM."""

    serial: str
    pem: str
    key: str
    since: datetime.datetime
    until: datetime.datetime


class Revoked(NamedTuple):
    """A certificate that counts no more, since when, and when it would have ended."""

    serial: str
    at: datetime.datetime
    until: datetime.datetime


class Listed(NamedTuple):
    """A list of revoked certificates as it lies in the bucket."""

    number: int
    until: datetime.datetime
    serials: frozenset[str]


def read(text: str) -> Authority:
    """The secret's text. Raises ValueError and KeyError for one that is none of ours."""
    stored = json.loads(text)
    return Authority(stored["crt"], stored["key"], stored["wrapping"])


def common_name(person: str, serial: str) -> str:
    """Names one certificate, so that a server can end its session and no other."""
    return f"{person}.{serial}"


def ends(pem: str) -> datetime.datetime:
    """When a certificate does."""
    return x509.load_pem_x509_certificate(pem.encode()).not_valid_after_utc


def issue(authority: Authority, person: str, days: float, now: datetime.datetime) -> Certificate:
    """A new key with its certificate, for a client of a server and nothing else; never beyond the authority's end."""
    ours = x509.load_pem_x509_certificate(authority.certificate.encode())
    number = secrets.randbits(62) | 1 << 62
    serial, until = f"{number:x}", min(now + datetime.timedelta(days=days), ours.not_valid_after_utc)
    key = ec.generate_private_key(ec.SECP256R1())
    made = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name(person, serial))]))
        .issuer_name(ours.subject)
        .public_key(key.public_key())
        .serial_number(number)
        .not_valid_before(now - SKEW)
        .not_valid_after(until)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ours.public_key()), critical=False)  # type: ignore[arg-type]
        .sign(_key(authority), SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return Certificate(serial, made.public_bytes(Encoding.PEM).decode(), private, now, until)


def revocations(authority: Authority, revoked: Iterable[Revoked], number: int, now: datetime.datetime) -> str:
    """The list as PEM, signed; `number` must be higher than any that was published before."""
    ours = x509.load_pem_x509_certificate(authority.certificate.encode())
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(ours.subject)
        .last_update(now - SKEW)
        .next_update(now + datetime.timedelta(days=LIST_DAYS))
        .add_extension(x509.CRLNumber(number), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ours.public_key()), critical=False)  # type: ignore[arg-type]
    )
    for one in sorted(revoked):
        if one.until + LISTED > now:
            entry = x509.RevokedCertificateBuilder().serial_number(int(one.serial, 16)).revocation_date(one.at)
            builder = builder.add_revoked_certificate(entry.build())
    return builder.sign(_key(authority), SHA256()).public_bytes(Encoding.PEM).decode()


def listed(pem: str, certificate: str) -> Listed:
    """Raises ValueError for what is no list, or not signed by the authority of this certificate."""
    found = x509.load_pem_x509_crl(pem.encode())
    key = x509.load_pem_x509_certificate(certificate.encode()).public_key()
    assert isinstance(key, ec.EllipticCurvePublicKey)
    if not found.is_signature_valid(key):
        raise ValueError("it is not signed by the region's authority")
    until = found.next_update_utc
    assert until is not None  # always set by `revocations`
    number = found.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number
    return Listed(number, until, frozenset(f"{one.serial_number:x}" for one in found))


def _key(authority: Authority) -> ec.EllipticCurvePrivateKey:
    key = load_pem_private_key(authority.key.encode(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key


def _usage() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
