"""What a region's storage on Azure is, as plain data."""

import uuid
from typing import Any

from fleet.azure.ids import subscription
from fleet.buckets import bucket_name, resource_group, vault_name
from fleet.model import Fleet

from ..places import EXPIRY_DAYS

CONTAINER = "fleet"
# What no account of the fleet does.
CLOSED: dict[str, Any] = {
    "allow_blob_public_access": False,
    "allow_cross_tenant_replication": False,
    "minimum_tls_version": "TLS1_2",
}
# The least that a premium share has (Azure docs, "Azure Files scale targets"); it is paid for whole, and grows by hand.
SHARE_GIB = 100


def vault_id(fleet: Fleet, region: str) -> str:
    """Policies must be decidable at preview."""
    group = f"{subscription(fleet)}/resourceGroups/{resource_group(fleet, region)}"
    return f"{group}/providers/Microsoft.KeyVault/vaults/{vault_name(fleet, region)}"


def bucket_id(fleet: Fleet, region: str) -> str:
    """The account's, whose name follows from the fleet file, too."""
    group = f"{subscription(fleet)}/resourceGroups/{resource_group(fleet, region)}"
    return f"{group}/providers/Microsoft.Storage/storageAccounts/{bucket_name(fleet, region)}"


def role_assignment(fleet: Fleet, region: str, what: str) -> str:
    """Azure wants a GUID for a name: one that follows from what it is, so that it is found again."""
    assert fleet.azure is not None
    return str(uuid.uuid5(uuid.UUID(fleet.azure.subscription_id), f"{fleet.fleet}/{region}/{what}"))


def deleted_days(fleet: Fleet) -> int:
    """How long what was deleted can be had back; Azure takes a year at most ("Soft delete for blobs").

    Its lifecycle counts a version's age from its writing, AWS's from its being replaced: this makes up for it.
    """
    return min(fleet.storage.noncurrent_days, 365)


def lifecycle(fleet: Fleet) -> list[dict[str, Any]]:
    """What goes by itself, and when. What goes can be had back for `deleted_days`."""
    replaced = _rule(
        "replaced-versions",
        [f"{CONTAINER}/"],
        {"version": {"delete": {"days_after_creation_greater_than": fleet.storage.noncurrent_days}}},
    )
    expiring = (
        _rule(
            place,
            [f"{CONTAINER}/{place}/"],
            {"base_blob": {"delete": {"days_after_modification_greater_than": days}}},
        )
        for place, days in EXPIRY_DAYS.items()
    )
    return [replaced, *expiring]


def _rule(name: str, prefixes: list[str], actions: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "type": "Lifecycle",
        "enabled": True,
        "definition": {"filters": {"blob_types": ["blockBlob"], "prefix_match": prefixes}, "actions": actions},
    }
