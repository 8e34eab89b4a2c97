"""Signature version 4 with the key of a certificate ("The IAM Roles Anywhere authentication signing process")."""

import base64
import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

HEADER = re.compile(
    r"AWS4-X509-(RSA|ECDSA)-SHA256 Credential=(\d+)/(\d{8})/([a-z0-9-]+)/rolesanywhere/aws4_request,"
    r"\s*SignedHeaders=([a-z0-9;-]+),\s*Signature=([0-9a-f]+)"
)
MUST = {"host", "x-amz-date", "x-amz-x509"}
SKEW_SECONDS = 15 * 60


class Wrong(Exception):
    """What is wrong with a signature."""


class SignedRequest(NamedTuple):
    """A call as it came; headers in lower case, `query` as in its address."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


def signer(request: SignedRequest, now: float) -> tuple[x509.Certificate, str]:
    """The certificate whose key has signed the call, and the region it was signed for. Raises Wrong."""
    found = HEADER.fullmatch(request.headers.get("authorization", ""))
    if found is None:
        raise Wrong("Missing or malformed Authorization header")
    kind, serial, day, region, names, signature = found.groups()
    signed = names.split(";")
    if signed != sorted(signed) or MUST - set(signed):
        raise Wrong(f"{', '.join(sorted(MUST))} must be signed")
    # Whoever has no need of it sends none: authorities sign for nodes themselves.
    if "x-amz-x509-chain" in request.headers:
        raise Wrong("The local cloud takes no chains: the trust anchor's own authority must have signed")
    moment = request.headers["x-amz-date"]
    _recent(moment, day, now)
    try:
        certificate = x509.load_der_x509_certificate(base64.b64decode(request.headers["x-amz-x509"], validate=True))
    except ValueError:
        raise Wrong("Malformed certificate in X-Amz-X509") from None
    if certificate.serial_number != int(serial):
        raise Wrong("The credential names another certificate")
    lines = "".join(f"{name}:{' '.join(request.headers.get(name, '').split())}\n" for name in signed)
    query = urlencode(sorted(parse_qsl(request.query, keep_blank_values=True)), quote_via=quote, safe="-_.~")
    digest = hashlib.sha256(request.body).hexdigest()
    canonical = "\n".join([request.method, quote(request.path), query, lines, names, digest])
    scope = f"{day}/{region}/rolesanywhere/aws4_request"
    text = f"AWS4-X509-{kind}-SHA256\n{moment}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    _verify(certificate, kind, bytes.fromhex(signature) if len(signature) % 2 == 0 else b"", text.encode())
    return certificate, region


def _recent(moment: str, day: str, now: float) -> None:
    try:
        then = datetime.strptime(moment, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise Wrong("Malformed X-Amz-Date") from None
    if not moment.startswith(day) or abs(then.timestamp() - now) > SKEW_SECONDS:
        raise Wrong("Signature expired or not yet valid")


def _verify(certificate: x509.Certificate, kind: str, signature: bytes, text: bytes) -> None:
    key = certificate.public_key()
    try:
        if kind == "RSA" and isinstance(key, rsa.RSAPublicKey):
            return key.verify(signature, text, padding.PKCS1v15(), hashes.SHA256())
        if kind == "ECDSA" and isinstance(key, ec.EllipticCurvePublicKey):
            return key.verify(signature, text, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise Wrong("Invalid signature") from None
    raise Wrong("The certificate's key is of another kind than the signature")
