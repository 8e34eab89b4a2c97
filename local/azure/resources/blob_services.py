"""What a storage account's blobs are kept by: service settings, containers, rules of their lives."""

import re
from typing import Any

from .. import ids
from ..errors import bad_request, conflict
from ..kinds import Kind, World, Write
from ..operations import now
from ..store import Resource
from .account_services import ACCOUNT, BLOBS, blob_defaults, check_retention, default_only, service_of_account

CONTAINER = f"{BLOBS}/containers"
POLICIES = f"{ACCOUNT}/managementPolicies"
NAME = re.compile(r"(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*|\$root|\$web|\$logs")
MOST_RULES = 100
METADATA = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Which action may stand under which part of a rule ("Lifecycle management policy definition").
ACTIONS = {
    "baseBlob": {"tierToCool", "tierToCold", "tierToArchive", "tierToHot", "delete", "enableAutoTierToHotFromCool"},
    "snapshot": {"tierToCool", "tierToCold", "tierToArchive", "tierToHot", "delete"},
    "version": {"tierToCool", "tierToCold", "tierToArchive", "tierToHot", "delete"},
}


def _service(write: Write) -> None:
    default_only(write)
    for name in ("deleteRetentionPolicy", "containerDeleteRetentionPolicy"):
        check_retention(name, write.properties.get(name))
    if (write.properties.get("restorePolicy") or {}).get("enabled"):
        retention = write.properties.get("deleteRetentionPolicy") or {}
        if not (write.properties.get("isVersioningEnabled") and retention.get("enabled")):
            raise bad_request("InvalidRequest", "A restore policy needs versioning and a delete retention policy.")


def _container(write: Write) -> None:
    check_container(write.world, write.id.names[0], write.id.name, write.properties)


def check_container(world: World, account: str, name: str, properties: dict[str, Any]) -> None:
    """Raises ArmError; the blobs' own service refuses the same."""
    if not NAME.fullmatch(name):
        raise bad_request("ContainerOperationFailure", f"InvalidResourceName: '{name}' is no container's name.")
    for key in properties.get("metadata") or {}:
        if not METADATA.fullmatch(key):
            raise bad_request("InvalidMetadata", f"The metadata specified is invalid: {key}.")
    access = properties.get("publicAccess") or "None"
    if access not in ("None", "Blob", "Container"):
        raise bad_request("InvalidValuesForRequestParameters", "publicAccess is None, Blob or Container.")
    found = next(one for one in world.store.all(ACCOUNT) if ids.same(one.id.name, account))
    if access != "None" and not found.properties.get("allowBlobPublicAccess"):
        raise conflict("PublicAccessNotPermitted", "Public access is not permitted on this storage account.")


def settle_container(write: Write) -> None:
    write.new.state.setdefault("blobs", {})
    write.properties.setdefault("publicAccess", "None")
    write.properties["lastModifiedTime"] = now()


def _computed_container(_: World, __: Resource) -> dict[str, Any]:
    return {
        "leaseStatus": "Unlocked",
        "leaseState": "Available",
        "hasImmutabilityPolicy": False,
        "hasLegalHold": False,
        "defaultEncryptionScope": "$account-encryption-key",
        "denyEncryptionScopeOverride": False,
        "deleted": False,
    }


def _policy(write: Write) -> None:
    if write.id.name.lower() != "default":
        raise bad_request("InvalidValuesForRequestParameters", "A management policy has one name alone: default.")
    rules = (write.properties.get("policy") or {}).get("rules") or []
    names = [rule.get("name") for rule in rules]
    if not 1 <= len(rules) <= MOST_RULES or len({str(name).lower() for name in names}) != len(names) or not all(names):
        raise bad_request("InvalidRequestPropertyValue", f"A policy has 1 to {MOST_RULES} rules, each of its own name.")
    for rule in rules:
        _rule(rule)


def _rule(rule: dict[str, Any]) -> None:
    definition = rule.get("definition") or {}
    actions = definition.get("actions") or {}
    filters = definition.get("filters") or {}
    strange = [
        f"{part}.{name}" for part, named in actions.items() for name in named or () if name not in ACTIONS.get(part, ())
    ]
    wrong = None
    if rule.get("type") != "Lifecycle":
        wrong = "type is Lifecycle"
    elif not actions or strange:
        wrong = f"actions are unknown or missing: {', '.join(strange)}"
    elif not set(filters.get("blobTypes") or ["none"]) <= {"blockBlob", "appendBlob", "pageBlob"}:
        wrong = "filters.blobTypes is of blockBlob, appendBlob, pageBlob"
    if wrong:
        raise bad_request("InvalidRequestPropertyValue", f"The rule {rule['name']} is not valid: {wrong}.")


def _policy_settled(write: Write) -> None:
    write.properties["lastModifiedTime"] = now()
    for rule in write.properties["policy"]["rules"]:
        rule.setdefault("enabled", True)


KINDS = (
    service_of_account(BLOBS, _service, blob_defaults),
    Kind(
        CONTAINER,
        stateless=True,
        tracked=False,
        check=_container,
        settle=settle_container,
        computed=_computed_container,
    ),
    Kind(
        POLICIES,
        untagged=True,
        stateless=True,
        tracked=False,
        check=_policy,
        settle=_policy_settled,
        statuses=(200, 200),
    ),
)
