"""Certificates as IAM Roles Anywhere takes them ("Signature validation" and "Trust model" in its user guide)."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# Short names as tags of a session have them.
NAMES = {
    NameOID.COMMON_NAME: "CN",
    NameOID.ORGANIZATION_NAME: "O",
    NameOID.ORGANIZATIONAL_UNIT_NAME: "OU",
    NameOID.COUNTRY_NAME: "C",
    NameOID.LOCALITY_NAME: "L",
    NameOID.STATE_OR_PROVINCE_NAME: "ST",
}
STRONG = (hashes.SHA256, hashes.SHA384, hashes.SHA512)
# "Quotas": certificates in one trust anchor.
MOST = 2
Kind = TypeVar("Kind", bound=x509.ExtensionType)


class Untrusted(Exception):
    """Why a certificate is not taken."""


def authorities(pem: str) -> list[x509.Certificate]:
    """Those of a trust anchor's bundle. Raises Untrusted for what cannot vouch for others."""
    try:
        found = x509.load_pem_x509_certificates(pem.encode())
    except ValueError as error:
        raise Untrusted(f"Incorrect body certificate: {error}") from None
    if len(found) > MOST:
        raise Untrusted(f"A certificate bundle holds {MOST} certificates at most, not {len(found)}")
    for one in found:
        _basics(one)
        if not _is_authority(one):
            raise Untrusted("The certificate is no authority's: basic constraints need CA:TRUE")
        usage = _extension(one, x509.KeyUsage)
        if usage is None or not usage.key_cert_sign:
            raise Untrusted("The authority's key usage must include certificate signing")
    return found


def vouched(leaf: x509.Certificate, anchors: list[x509.Certificate], now: float) -> None:
    """Raises Untrusted unless one of the authorities signed the certificate, for a client, and for now."""
    _basics(leaf)
    moment = datetime.fromtimestamp(now, UTC)
    if _is_authority(leaf):
        raise Untrusted("Untrusted certificate: an authority's own takes no role")
    usage, purposes = _extension(leaf, x509.KeyUsage), _extension(leaf, x509.ExtendedKeyUsage)
    if usage is None or not usage.digital_signature:
        raise Untrusted("Untrusted certificate: its key usage must include digital signatures")
    if purposes is not None and ExtendedKeyUsageOID.CLIENT_AUTH not in purposes:
        raise Untrusted("Untrusted certificate: its extended key usage must include client authentication")
    if not _lives(leaf, moment):
        raise Untrusted("Untrusted certificate: it is not valid now")
    if not any(_lives(anchor, moment) and _signed(leaf, anchor) for anchor in anchors):
        raise Untrusted("Untrusted signing certificate: no authority of the trust anchor has issued it")


def attributes(leaf: x509.Certificate) -> dict[str, str]:
    """Tags of the session: x509Subject/CN and so on. A field that stands twice is left out."""
    found: dict[str, list[str]] = {}
    for name, value in _fields(leaf):
        found.setdefault(name, []).append(value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _fields(leaf: x509.Certificate) -> Iterator[tuple[str, str]]:
    for kind, names in (("x509Subject", leaf.subject), ("x509Issuer", leaf.issuer)):
        yield from ((f"{kind}/{NAMES[one.oid]}", str(one.value)) for one in names if one.oid in NAMES)
    others = _extension(leaf, x509.SubjectAlternativeName)
    if others is not None:
        yield from (("x509SAN/DNS", name) for name in others.get_values_for_type(x509.DNSName))
        yield from (("x509SAN/URI", name) for name in others.get_values_for_type(x509.UniformResourceIdentifier))


def _basics(certificate: x509.Certificate) -> None:
    if certificate.version is not x509.Version.v3:
        raise Untrusted("Certificates must be X.509 version 3")
    if not isinstance(certificate.signature_hash_algorithm, STRONG):
        raise Untrusted("Certificates must be signed with SHA-256 or stronger")


def _is_authority(certificate: x509.Certificate) -> bool:
    constraints = _extension(certificate, x509.BasicConstraints)
    return constraints is not None and constraints.ca


def _extension(certificate: x509.Certificate, kind: type[Kind]) -> Kind | None:
    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return None


def _lives(certificate: x509.Certificate, moment: datetime) -> bool:
    return certificate.not_valid_before_utc <= moment <= certificate.not_valid_after_utc


def _signed(leaf: x509.Certificate, anchor: x509.Certificate) -> bool:
    try:
        leaf.verify_directly_issued_by(anchor)
    except (InvalidSignature, TypeError, ValueError):
        return False
    return True
