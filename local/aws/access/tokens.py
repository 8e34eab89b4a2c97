"""A token that an identity provider signed, as STS takes it: JSON Web Tokens (RFC 7519) of a registered issuer.

What STS demands: the issuer is a provider of the account, the audience one of its client ids, the signature by a key of
the issuer's documents, which everybody must be able to read, and the token's time.
"""

import base64
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers

CONFIGURATION = "/.well-known/openid-configuration"
HASHES = {"RS256": hashes.SHA256(), "RS384": hashes.SHA384(), "RS512": hashes.SHA512()}
# What must be there, and of which type.
CLAIMS: dict[str, tuple[type, ...]] = {"iss": (str,), "sub": (str,), "aud": (str, list), "exp": (int,), "iat": (int,)}
# STS's own words ("AssumeRoleWithWebIdentity", errors).
INVALID, EXPIRED = "InvalidIdentityToken", "ExpiredTokenException"
NO_KEY = "Couldn't retrieve verification key from your identity provider"
TEXT = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)
# Reads a document of an https URL as anybody may. Raises LookupError where nobody may.
Read = Callable[[str], bytes]


class BadToken(Exception):
    """`code` is STS's."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Token(NamedTuple):
    """What a token that was verified says. `issuer` is its URL without https://, as IAM names providers."""

    issuer: str
    subject: str
    audience: str


def verified(text: str, clients: Mapping[str, list[str]], read: Read, now: float) -> Token:
    """`clients` are client ids by registered issuer, `now` seconds since 1970. Raises BadToken."""
    head, claims, signed, signature = _decoded_jwt(text)
    for name, types in CLAIMS.items():
        if not isinstance(claims.get(name), types) or isinstance(claims[name], bool):
            raise BadToken(INVALID, f"Missing a required claim: {name}")
    issuer = claims["iss"].removeprefix("https://")
    if not claims["iss"].startswith("https://") or issuer not in clients:
        raise BadToken(INVALID, f"No OpenIDConnect provider found in your account for {claims['iss']}")
    # With several, AWS goes by another claim (azp), which service accounts' tokens do not have.
    audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    if len(audiences) != 1 or audiences[0] not in clients[issuer]:
        raise BadToken(INVALID, "Incorrect token audience")
    _verify(head, signed, signature, _keys(claims["iss"], read))
    if now >= claims["exp"]:
        raise BadToken(EXPIRED, f"Token expired: current date/time {int(now)} must be before {claims['exp']}")
    not_before = claims.get("nbf", 0)
    if not isinstance(not_before, int) or now < not_before:
        raise BadToken(INVALID, "The token is not valid yet")
    return Token(issuer, claims["sub"], audiences[0])


def _decoded_jwt(text: str) -> tuple[dict[str, Any], dict[str, Any], bytes, bytes]:
    parts = text.split(".")
    if len(parts) != 3:
        raise BadToken(INVALID, "The ID Token provided is not a valid JWT. (You may see this error if you sent none)")
    try:
        head, claims = (json.loads(_decoded(part)) for part in parts[:2])
        if not (isinstance(head, dict) and isinstance(claims, dict)):
            raise ValueError("no objects")
        return head, claims, ".".join(parts[:2]).encode(), _decoded(parts[2])
    except ValueError:
        raise BadToken(INVALID, "The ID Token provided is not a valid JWT") from None


def _decoded(text: str) -> bytes:
    if not TEXT.fullmatch(text):
        raise ValueError("not base64url")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _keys(issuer: str, read: Read) -> list[dict[str, Any]]:
    try:
        configuration = json.loads(read(f"{issuer}{CONFIGURATION}"))
        if configuration["issuer"] != issuer:
            raise LookupError("the documents are of another issuer")
        return list(json.loads(read(configuration["jwks_uri"]))["keys"])
    except (LookupError, ValueError, TypeError) as error:
        raise BadToken(INVALID, f"{NO_KEY}: {error}") from None


def _verify(head: dict[str, Any], signed: bytes, signature: bytes, keys: list[dict[str, Any]]) -> None:
    algorithm = HASHES.get(str(head.get("alg")))
    fitting = [key for key in keys if key.get("kid") == head.get("kid") and key.get("kty") == "RSA"]
    if algorithm is None or not fitting:
        raise BadToken(INVALID, f"{NO_KEY}: none is {head.get('kid')!r} for {head.get('alg')!r}")
    try:
        number = {name: int.from_bytes(_decoded(fitting[0][name])) for name in ("n", "e")}
        RSAPublicNumbers(**number).public_key().verify(signature, signed, padding.PKCS1v15(), algorithm)
    except InvalidSignature:
        raise BadToken(INVALID, "The ID Token provided has a signature that does not fit its issuer's keys") from None
    except (LookupError, ValueError, TypeError) as error:
        raise BadToken(INVALID, f"{NO_KEY}: {type(error).__name__}") from None
