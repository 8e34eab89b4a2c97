"""Tokens of Microsoft Entra ID: given for a client's secret or a machine's identity, for one audience, and read again.

The form is that of Entra's v2 endpoint (Microsoft identity platform, "client credentials flow"), signed with a key of
this process.
"""

import secrets
import time
import uuid
from typing import Any, NamedTuple

import jwt

from .errors import ArmError
from .sign_in import CLIENT, SECRET

LIFE_SECONDS = 3600
DEPLOYER = "00000000-0000-4000-8000-0000000000d1"  # its principal, the owner of every subscription
ARM, VAULT, STORAGE = "https://management.azure.com", "https://vault.azure.net", "https://storage.azure.com"
# What callers name → the audience that is meant.
AUDIENCES = {
    ARM: ARM,
    "https://management.core.windows.net": ARM,
    VAULT: VAULT,
    STORAGE: STORAGE,
}
_KEY = secrets.token_bytes(32)


class Caller(NamedTuple):
    """Who calls: the object id of a principal, for whom the token is, and the directory that gave it."""

    principal: str
    audience: str
    tenant: str


def issuer(tenant: str) -> str:
    return f"https://sts.windows.net/{tenant}/"


def audience(resource: str) -> str:
    """Raises ArmError for a resource that is none of the local cloud's."""
    name = resource.removesuffix("/.default").rstrip("/")
    if name.endswith(".blob.core.windows.net"):
        return STORAGE
    if name not in AUDIENCES:
        message = f"AADSTS500011: The resource principal named {name} was not found in the tenant."
        raise ArmError(400, "invalid_resource", message)
    return AUDIENCES[name]


def give(principal: str, resource: str, client: str, tenant: str) -> dict[str, Any]:
    """The answer of a token endpoint."""
    at = int(time.time())
    claims: dict[str, Any] = {
        "aud": audience(resource),
        "iss": issuer(tenant),
        "tid": tenant,
        "oid": principal,
    }
    claims |= {
        "sub": principal,
        "appid": client,
        "iat": at,
        "nbf": at - 5,
        "exp": at + LIFE_SECONDS,
        "uti": uuid.uuid4().hex,
    }
    token = jwt.encode(claims, _KEY, algorithm="HS256")
    return {"token_type": "Bearer", "expires_in": LIFE_SECONDS, "ext_expires_in": LIFE_SECONDS, "access_token": token}


def read(header: str, wanted: str) -> Caller:
    """Whose a bearer token is. Raises ArmError when there is none, or it is not for this service, or too old."""
    kind, _, token = header.partition(" ")
    if kind.lower() != "bearer" or not token:
        raise ArmError(401, "AuthenticationFailed", "Authentication failed. The 'Authorization' header is missing.")
    try:
        claims = jwt.decode(token, _KEY, algorithms=["HS256"], audience=wanted)
    except jwt.ExpiredSignatureError:
        raise ArmError(401, "ExpiredAuthenticationToken", "The access token expiry UTC time is in the past.") from None
    except jwt.InvalidAudienceError:
        raise ArmError(401, "InvalidAuthenticationTokenAudience", f"The access token is not for {wanted}.") from None
    except jwt.InvalidTokenError as error:
        raise ArmError(401, "InvalidAuthenticationToken", f"The access token is invalid: {error}.") from None
    return Caller(claims["oid"], claims["aud"], claims["tid"])


def client_credentials(form: dict[str, str], tenant: str) -> dict[str, Any]:
    """The answer to POST /TENANT/oauth2/v2.0/token. Raises ArmError, whose code is OAuth's `error`."""
    if form.get("grant_type") != "client_credentials":
        raise ArmError(
            400, "unsupported_grant_type", f"AADSTS70003: The grant type {form.get('grant_type')} is not known."
        )
    if (form.get("client_id"), form.get("client_secret")) != (CLIENT, SECRET):
        raise ArmError(401, "invalid_client", "AADSTS7000215: Invalid client secret provided.")
    return give(DEPLOYER, form.get("scope") or form.get("resource") or "", CLIENT, tenant)
