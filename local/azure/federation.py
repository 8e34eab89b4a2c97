"""Tokens for who brings another issuer's: workload identity federation, by an identity's federated credentials.

"Workload identity federation": the assertion's issuer, subject and audience must be those of a credential, and its
signature by a key that the issuer's documents tell everybody. Those of the local Azure are read from its containers,
those of other clouds inside the local cloud by their names.
"""

import json
import ssl
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import jwt

from . import firewall, tokens
from .blobs.contents import Blobs, Keeping
from .blobs.grants import Grant
from .errors import ArmError
from .identities import IDENTITY
from .kinds import World
from .names import service_of
from .resources.identities import FEDERATED
from .resources.storage_accounts import find
from .store import Resource

TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
CONFIGURATION = "/.well-known/openid-configuration"
REQUIRED = ["exp", "iat", "iss", "sub", "aud"]
# Whom to trust for other clouds' names: the server sets it.
authorities: list[Path] = []
SECONDS = 5


def sign_in(world: World, form: Mapping[str, str]) -> dict[str, Any]:
    """The token endpoint's answer. Raises ArmError, whose code is OAuth's `error`."""
    if form.get("client_assertion_type") != TYPE:
        raise ArmError(400, "invalid_request", f"AADSTS900144: client_assertion_type is {TYPE}.")
    identity = next(
        (one for one in world.store.all(IDENTITY) if one.properties.get("clientId") == form.get("client_id")), None
    )
    if identity is None:
        message = f"AADSTS700016: Application with identifier '{form.get('client_id')}' was not found in the directory."
        raise ArmError(400, "unauthorized_client", message)
    _check(world, identity, form["client_assertion"])
    resource = form.get("scope") or form.get("resource") or ""
    own = identity.properties
    return tokens.give(own["principalId"], resource, own["clientId"], own["tenantId"])


def _check(world: World, identity: Resource, text: str) -> None:
    try:
        claims = jwt.decode(text, options={"verify_signature": False, "require": REQUIRED})
        head = jwt.get_unverified_header(text)
    except jwt.InvalidTokenError as error:
        raise _refused("5002738", f"Invalid JWT token: {error}.") from None
    audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    known = [one.properties for one in world.store.children(identity, FEDERATED)]
    for code, claim, fits in (
        ("700211", "issuer", lambda one: one["issuer"] == claims["iss"]),
        ("700213", "subject", lambda one: one["subject"] == claims["sub"]),
        ("700212", "audience", lambda one: set(one["audiences"]) & set(audiences)),
    ):
        known = [one for one in known if fits(one)]
        if not known:
            value = claims[{"issuer": "iss", "subject": "sub", "audience": "aud"}[claim]]
            message = f"No matching federated identity record found for presented assertion {claim} '{value}'."
            raise _refused(code, message)
    key = _key(world, claims["iss"], str(head.get("kid")))
    try:
        jwt.decode(text, key, algorithms=["RS256"], audience=audiences, options={"require": REQUIRED})
    except (jwt.ExpiredSignatureError, jwt.ImmatureSignatureError):
        raise _refused("700024", "Client assertion is not within its valid time range.") from None
    except jwt.InvalidTokenError as error:
        raise _refused("700027", f"The assertion failed signature validation: {error}.") from None


def _refused(number: str, message: str) -> ArmError:
    return ArmError(401, "invalid_client", f"AADSTS{number}: {message}")


def _key(world: World, issuer: str, kid: str) -> Any:
    """Raises ArmError."""
    try:
        configuration = json.loads(public(world, f"{issuer}{CONFIGURATION}"))
        if configuration["issuer"] != issuer:
            raise LookupError("the documents are of another issuer")
        keys = json.loads(public(world, configuration["jwks_uri"]))["keys"]
        found = next(key for key in keys if key.get("kid") == kid and key.get("kty") == "RSA")
        return jwt.PyJWK(found, "RS256").key
    except StopIteration:
        raise _refused("700027", f"The issuer has no key '{kid}'.") from None
    except (LookupError, ValueError, TypeError, jwt.PyJWTError) as error:
        raise _refused("50166", f"Request to External OIDC endpoint failed: {error}.") from None


def public(world: World, url: str) -> bytes:
    """What everybody may read. Raises LookupError."""
    at = urlsplit(url)
    if at.scheme != "https" or not at.hostname:
        raise LookupError(f"{url} is no URL of https")
    service = service_of(at.hostname)
    if service is None:
        return _fetched(url)
    account = find(world, service[1]) if service[0] == "blob" else None
    container, _, name = unquote(at.path).lstrip("/").partition("/")
    settings = world.store.find(f"{account.id.text}/blobServices/default") if account else None
    place = world.store.find(f"{settings.id.text}/containers/{container}") if settings else None
    if account is None or settings is None or place is None:
        raise LookupError(f"{url} is not there for everybody")
    # Entra comes from the internet: a private endpoint is not for it.
    if not firewall.public(account) or not Grant(world, account).may("read", place, name):
        raise LookupError(f"{url} is not there for everybody")
    found = Blobs(place, Keeping.of(settings)).find(name)
    if found is None:
        raise LookupError(f"{url} is not there")
    return found.content.read()


def _fetched(url: str) -> bytes:
    context = ssl.create_default_context()
    for file in authorities:
        if file.exists():
            context.load_verify_locations(file)
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        with direct.open(url, timeout=SECONDS) as answer:
            return bytes(answer.read())
    except OSError as error:
        raise LookupError(f"{url} cannot be read: {error}") from None
