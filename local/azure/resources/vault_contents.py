"""Secrets and keys of a vault, as ARM writes them; no answer of ARM's tells a secret's value.

A secret's versions are in `state["versions"]`, oldest first, where the vault's own service reads and writes them.
"""

import re
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from ..errors import bad_request, conflict
from ..kinds import Kind, World, Write
from ..store import Resource
from .vaults import VAULT

SECRET, KEY = f"{VAULT}/secrets", f"{VAULT}/keys"
NAME = re.compile(r"[A-Za-z0-9-]{1,127}")
LARGEST_BYTES = 25_600  # "About Azure Key Vault secrets"
ATTRIBUTES = ("enabled", "nbf", "exp")
SIZES, CURVES = (2048, 3072, 4096), ("P-256", "P-256K", "P-384", "P-521")
TYPES = ("RSA", "RSA-HSM", "EC", "EC-HSM")
OPERATIONS = {
    "RSA": ["encrypt", "decrypt", "sign", "verify", "wrapKey", "unwrapKey"],
    "EC": ["sign", "verify"],
}


@dataclass
class Version:
    """One value of a secret. `attributes`: enabled, nbf and exp (seconds), as they were given."""

    value: str = field(repr=False)
    attributes: dict[str, Any]
    content_type: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    created: int = field(default_factory=lambda: int(time.time()))
    updated: int = field(default_factory=lambda: int(time.time()))


def check_value(value: Any) -> None:
    """Raises ArmError."""
    if not isinstance(value, str):
        raise bad_request("BadParameter", "Value is required.")
    if len(value.encode()) > LARGEST_BYTES:
        message = f"Property  has invalid value: it has more than {LARGEST_BYTES} bytes."
        raise bad_request("BadParameter", message)


def check_name(name: str) -> None:
    """Raises ArmError."""
    if not NAME.fullmatch(name):
        message = f"The request URI contains an invalid name: {name}: 1 to 127 letters, digits and hyphens."
        raise bad_request("BadParameter", message)


def refuse_deleted(vault: Resource, sort: str, name: str) -> None:
    """A deleted secret keeps its name. Raises ArmError."""
    if name.lower() in vault.state.get(f"deleted {sort}s", {}):
        message = (
            f"{sort.capitalize()} {name} is currently in a deleted but recoverable state, and its name cannot be "
            f"reused; in this state, the {sort} can only be recovered or purged."
        )
        raise conflict("ObjectIsDeletedButRecoverable", message)


def _secret(write: Write) -> None:
    assert write.id.parent is not None
    check_name(write.id.name)
    refuse_deleted(write.world.store.get(write.id.parent), "secret", write.id.name)
    if write.old is None or "value" in write.properties:
        check_value(write.properties.get("value"))


def _secret_settled(write: Write) -> None:
    versions: list[Version] = write.new.state.setdefault("versions", [])
    properties = write.properties
    given = {
        key: (properties.get("attributes") or {})[key]
        for key in ATTRIBUTES
        if key in (properties.get("attributes") or {})
    }
    value = properties.pop("value", None)
    if value is not None:
        versions.append(Version(value, given, properties.get("contentType"), dict(write.new.body.get("tags") or {})))
        return
    newest = versions[-1]
    newest.attributes, newest.updated = {**newest.attributes, **given}, int(time.time())
    newest.tags = dict(write.new.body.get("tags") or {})
    newest.content_type = properties.get("contentType")


def _computed_secret(_: World, secret: Resource) -> dict[str, Any]:
    newest: Version = secret.state["versions"][-1]
    uri = f"https://{secret.id.names[0].lower()}.vault.azure.net/secrets/{secret.id.name}"
    computed = {
        "secretUri": uri,
        "secretUriWithVersion": f"{uri}/{newest.id}",
        "attributes": {"enabled": True, **newest.attributes, "created": newest.created, "updated": newest.updated},
    }
    return {**computed, "contentType": newest.content_type} if newest.content_type else computed


def _key(write: Write) -> None:
    properties = write.old.properties if write.old else write.properties
    if write.old:  # "Create If Not Exist": what is there stays as it is
        write.new.body["properties"] = write.old.properties
        return
    check_name(write.id.name)
    if properties.get("kty") not in TYPES:
        raise bad_request("BadParameter", f"kty is one of {TYPES}.")
    rsa = properties["kty"].startswith("RSA")
    if rsa and properties.get("keySize", SIZES[0]) not in SIZES:
        raise bad_request("BadParameter", f"keySize is one of {SIZES}.")
    if not rsa and properties.get("curveName", CURVES[0]) not in CURVES:
        raise bad_request("BadParameter", f"curveName is one of {CURVES}.")


def _key_settled(write: Write) -> None:
    if write.old:
        return
    properties, at = write.properties, int(time.time())
    rsa = properties["kty"].startswith("RSA")
    properties.setdefault("keySize" if rsa else "curveName", SIZES[0] if rsa else CURVES[0])
    properties.setdefault("keyOps", OPERATIONS["RSA" if rsa else "EC"])
    properties["attributes"] = {"enabled": True, "exportable": False, **(properties.get("attributes") or {})}
    properties["attributes"] |= {"created": at, "updated": at, "recoveryLevel": "Recoverable+Purgeable"}
    uri = f"https://{write.id.names[0].lower()}.vault.azure.net/keys/{write.id.name}"
    properties |= {"keyUri": uri, "keyUriWithVersion": f"{uri}/{uuid.uuid4().hex}"}


KINDS = (
    Kind(
        SECRET,
        untagged=True,
        stateless=True,
        tracked=False,
        check=_secret,
        settle=_secret_settled,
        computed=_computed_secret,
        hidden=("value",),
        methods=frozenset(("GET", "PUT", "PATCH")),
    ),
    Kind(
        KEY,
        untagged=True,
        stateless=True,
        tracked=False,
        check=_key,
        settle=_key_settled,
        methods=frozenset(("GET", "PUT")),
        statuses=(200, 200),
    ),
)
