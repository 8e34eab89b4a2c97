"""The services that are there with a storage account, each with settings of its own, named `default`."""

from collections.abc import Callable
from typing import Any

from ..errors import ArmError, bad_request
from ..kinds import Check, Kind, Write

ACCOUNT = "Microsoft.Storage/storageAccounts"
BLOBS, FILES = f"{ACCOUNT}/blobServices", f"{ACCOUNT}/fileServices"
MOST_DAYS = 365


def blob_defaults() -> dict[str, Any]:
    return {"cors": {"corsRules": []}, "deleteRetentionPolicy": {"allowPermanentDelete": False, "enabled": False}}


def file_defaults() -> dict[str, Any]:
    return {"cors": {"corsRules": []}, "shareDeleteRetentionPolicy": {"enabled": True, "days": 7}}


def service_of_account(type_: str, check: Check, defaults: Callable[[], dict[str, Any]]) -> Kind:
    """Its settings, which are there with the account."""

    def settle(write: Write) -> None:
        write.new.body["properties"] = {**defaults(), **write.properties}

    methods = frozenset(("GET", "PUT"))
    return Kind(type_, untagged=True, stateless=True, tracked=False, check=check, settle=settle, methods=methods)


def default_only(write: Write) -> None:
    if write.id.name.lower() != "default":
        raise ArmError(404, "ResourceNotFound", f"{write.id.type} has one name alone: default.")
    if write.old is None:
        message = f"The kind of account {write.id.names[0]} does not have {write.id.types[-1]}."
        raise bad_request("FeatureNotSupportedForAccount", message)


def check_retention(name: str, policy: dict[str, Any] | None) -> None:
    if policy and policy.get("enabled") and not 1 <= int(policy.get("days") or 0) <= MOST_DAYS:
        raise bad_request("InvalidXmlNodeValue", f"{name} is enabled for 1 to {MOST_DAYS} days.")
