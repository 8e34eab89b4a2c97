"""Ids of Azure that follow from the fleet file alone: policies must be decidable at preview."""

from ..model import Fleet

# Azure's own role: reads, writes and deletes secrets ("Azure built-in roles", Key Vault Secrets Officer).
SECRETS_OFFICER = "b86a8fe4-44ce-4948-aee5-eccb2c155cd7"
# And reads, writes and deletes blobs: Storage Blob Data Contributor.
BLOB_CONTRIBUTOR = "ba92f5b4-2d11-453d-a403-e96b0029c9fe"
# And reads and lists them: Storage Blob Data Reader.
BLOB_READER = "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1"


def subscription(fleet: Fleet) -> str:
    """Of a fleet that has something in Azure."""
    assert fleet.azure is not None  # fleet.regions: no region in Azure without a subscription
    return f"/subscriptions/{fleet.azure.subscription_id}"


def role(fleet: Fleet, name: str) -> str:
    """One of Azure's own roles, whose names are GUIDs."""
    return f"{subscription(fleet)}/providers/Microsoft.Authorization/roleDefinitions/{name}"
