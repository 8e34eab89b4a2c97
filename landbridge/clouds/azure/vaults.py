"""Vaults that Azure still keeps after they were deleted: a region comes back with its own, and with nothing else."""

import re
from collections.abc import Mapping
from typing import Any

from fleet.buckets import in_azure, vault_name
from fleet.model import Fleet
from landbridge.errors import LandbridgeError

from .sign_in import credential

VAULT = "azure-native:keyvault:Vault"
# What Pulumi's provider says of a secret that came back with its vault (pulumi-azure-native, provider.go).
CAME_BACK = re.compile("cannot create already existing resource '[^']*/vaults/[^']*/secrets/")
# A run ends with the first of them.
MOST_SECRETS = 20


def to_recover(fleet: Fleet, region: str, state: Mapping[str, Any] | None, *, refresh: bool) -> str | None:
    """The name of the region's vault, if Azure keeps a deleted one and the stack's state has none.

    With `refresh` the state may still have it: a name is never that of a deleted vault and of one that stands.
    Raises LandbridgeError where that can't be asked.
    """
    stands = any(one["type"] == VAULT for one in (state or {}).get("resources") or ())
    if not in_azure(fleet, region) or (stands and not refresh):
        return None
    assert fleet.azure is not None
    name = vault_name(fleet, region)
    try:
        return name if is_recoverable(fleet.azure.subscription_id, region, name) else None
    except LandbridgeError:
        # Most vaults that a state has do stand, and who may not look at deleted ones can bring up all else.
        if stands:
            return None
        raise


def is_recoverable(subscription: str, region: str, name: str) -> bool:
    """Raises LandbridgeError."""
    # A second of imports that few runs need.
    from azure.core.exceptions import AzureError, ResourceNotFoundError
    from azure.mgmt.keyvault import KeyVaultManagementClient

    try:
        KeyVaultManagementClient(credential(), subscription).vaults.get_deleted(name, region)
    except ResourceNotFoundError:
        return False
    except AzureError as error:
        why = str(error).partition("\n")[0]
        raise LandbridgeError(
            f"Azure can't be asked whether it still keeps vault {name}, which the region needs: {why}. Sign in "
            "(`az login`, or ARM_CLIENT_ID and ARM_CLIENT_SECRET) and run it again."
        ) from None
    return True
