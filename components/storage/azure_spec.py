"""What a region's storage on Azure is, as plain data."""

from typing import Any

from fleet.model import Fleet

from .bucket import EXPIRY_DAYS

CONTAINER = "fleet"
# The least that a premium share has (Azure docs, "Azure Files scale targets"); it is paid for whole, and grows by hand.
SHARE_GIB = 100


def lifecycle(fleet: Fleet) -> list[dict[str, Any]]:
    """What goes by itself, and when, as on AWS. Deleted blobs are replaced versions from then on."""
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
