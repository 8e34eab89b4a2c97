"""A cluster's public issuer: its two documents, from its public keys (OpenID Connect Discovery, RFC 7517)."""

import base64
import hashlib
import json
import re
from typing import TypedDict

import pulumi
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

from components.tags import Owner
from fleet import issuers
from fleet.model import Fleet

from .machines import ClusterSpec

PEM = re.compile(r"-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----", re.DOTALL)


class IssuerArgs(TypedDict):
    """`public_keys` are PEM texts, one after the other."""

    fleet: Fleet
    spec: ClusterSpec
    owner: Owner
    public_keys: pulumi.Output[str]


class AnyIssuer(pulumi.ComponentResource):
    """`named` is its bucket, and `documents` what everybody may read there, by path."""

    def __init__(self, name: str, args: IssuerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:control-plane:Issuer", name, None, opts)
        spec = args["spec"]
        # By its name, which policies can tell before it is made.
        self.named = issuers.bucket(args["fleet"], spec.name)
        made = args["public_keys"].apply(lambda pems: documents(spec.issuer, pems))
        self.documents: dict[str, pulumi.Output[str]] = {path: made[path] for path in issuers.DOCUMENTS}


def resource_name(issuer: str, path: str) -> str:
    """Of a document."""
    return f"{issuer}-{path.rpartition('/')[2]}"


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
