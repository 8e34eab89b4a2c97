"""Pre-shared keys in Azure: a secret of the region's vault has those of a site."""

import json

from fleet.buckets import vault_name
from fleet.world import World
from landbridge.clouds.azure.sign_in import credential
from landbridge.errors import LandbridgeError
from landbridge.places import Place

PERMISSION = "You need the role Key Vault Secrets User on its vault"


def stored_keys(world: World, place: Place, region: str, secret: str) -> dict[str, str]:  # noqa: ARG001
    """By tunnels' names. Raises LandbridgeError."""
    # A second of imports that few runs need.
    from azure.core.exceptions import AzureError
    from azure.keyvault.secrets import SecretClient

    try:
        client = SecretClient(f"https://{vault_name(world.fleet, region)}.vault.azure.net", credential())
        found: dict[str, str] = json.loads(client.get_secret(secret).value or "{}")
    except AzureError as error:
        raise LandbridgeError(f"Secret {secret} in {region} can't be read: {error}. {PERMISSION}.") from None
    return found
