"""Pre-shared keys in AWS: a secret of the region has those of a site."""

import json

from botocore.exceptions import BotoCoreError, ClientError

from fleet.world import World
from landbridge.cluster.session import clients_at
from landbridge.errors import LandbridgeError
from landbridge.places import Place

PERMISSION = "You need secretsmanager:GetSecretValue on it, and kms:Decrypt with its region's key"


def stored_keys(world: World, place: Place, region: str, secret: str) -> dict[str, str]:
    """By tunnels' names. Raises LandbridgeError."""
    try:
        secrets = clients_at(world, place, region)("secretsmanager")
        found: dict[str, str] = json.loads(secrets.get_secret_value(SecretId=secret)["SecretString"])
    except (ClientError, BotoCoreError) as error:
        raise LandbridgeError(f"Secret {secret} in {region} can't be read: {error}. {PERMISSION}.") from None
    return found
