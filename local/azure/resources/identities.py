"""User-assigned managed identities, and whose tokens they take in place of a machine's (federated credentials)."""

import re
import uuid

from .. import directories
from ..errors import bad_request, conflict
from ..identities import IDENTITY
from ..kinds import Kind, Write

FEDERATED = f"{IDENTITY}/federatedIdentityCredentials"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{2,127}")
FEDERATED_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{2,119}")
# "Federated identity credentials considerations and limitations".
MOST_FEDERATED = 20


def _identity(write: Write) -> None:
    if not NAME.fullmatch(write.id.name):
        message = f"The resource name {write.id.name} is invalid: 3 to 128 letters, digits, - and _."
        raise bad_request("InvalidResourceName", message)


def _settle(write: Write) -> None:
    old = write.old.properties if write.old else {}
    for name in ("principalId", "clientId"):
        write.properties[name] = old.get(name) or str(uuid.uuid4())
    write.properties["tenantId"] = directories.of(write.id.text)


def _federated(write: Write) -> None:
    properties, name = write.properties, write.id.name
    if not FEDERATED_NAME.fullmatch(name):
        raise bad_request("InvalidResourceName", f"The name {name} is invalid: 3 to 120 letters, digits, - and _.")
    if not all(isinstance(properties.get(key), str) and properties[key] for key in ("issuer", "subject")):
        raise bad_request("BadRequest", "A federated identity credential has an issuer and a subject.")
    if not properties["issuer"].startswith("https://"):
        raise bad_request("BadRequest", "The issuer is a URL of https.")
    if not isinstance(properties.get("audiences"), list) or len(properties["audiences"]) != 1:
        raise bad_request("BadRequest", "A federated identity credential has one audience.")
    parent = write.world.store.get(write.id.parent) if write.id.parent else write.new
    others = [one for one in write.world.store.children(parent, FEDERATED) if one.id.key != write.id.key]
    if len(others) >= MOST_FEDERATED:
        raise bad_request("BadRequest", f"Too many federated identity credentials: an identity has {MOST_FEDERATED}.")
    if any(all(one.properties[key] == properties[key] for key in ("issuer", "subject")) for one in others):
        raise conflict("Conflict", "Issuer and subject combination already exists for this managed identity.")


KINDS = (
    Kind(
        IDENTITY,
        untagged=True,
        stateless=True,
        check=_identity,
        settle=_settle,
        known=frozenset(("isolationScope",)),
        read_only=("principalId", "clientId", "tenantId"),
    ),
    Kind(
        FEDERATED,
        untagged=True,
        stateless=True,
        tracked=False,
        check=_federated,
        known=frozenset(("issuer", "subject", "audiences")),
    ),
)
