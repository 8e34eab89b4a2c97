"""The two documents of a cluster's public issuer, from its public keys (OpenID Connect Discovery, RFC 7517)."""

import base64
import hashlib
import json
import re

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

from fleet import issuers

PEM = re.compile(r"-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----", re.DOTALL)


def documents(issuer: str, public_pems: str) -> dict[str, str]:
    """Name → JSON. `public_pems` are one or more RSA keys, one after the other."""
    configuration = {
        "issuer": issuer,
        "jwks_uri": f"{issuer}/{issuers.KEYS}",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    }
    keys = [_key(pem) for pem in PEM.findall(public_pems)]
    return {issuers.CONFIGURATION: json.dumps(configuration), issuers.KEYS: json.dumps({"keys": keys})}


def _key(pem: str) -> dict[str, str]:
    key = load_pem_public_key(pem.encode())
    assert isinstance(key, RSAPublicKey)
    numbers = key.public_numbers()
    # kube-apiserver names keys so in tokens: pkg/serviceaccount/jwt.go, keyIDFromPublicKey.
    name = hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
    shape = {"use": "sig", "kty": "RSA", "alg": "RS256", "kid": _text(name)}
    return {**shape, "n": _number(numbers.n), "e": _number(numbers.e)}


def _number(value: int) -> str:
    return _text(value.to_bytes((value.bit_length() + 7) // 8))


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
