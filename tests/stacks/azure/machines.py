"""A machine of a stack in the local Azure, and what it reaches as itself: blobs and secrets, by Azure's own clients."""

from typing import Any

from azure.core.exceptions import HttpResponseError
from azure.keyvault.secrets import SecretClient
from azure.storage.blob import BlobServiceClient

from fleet.buckets import bucket_name, vault_name
from fleet.world import World
from tests.local.azure.support import GivenToken, LocalAzure
from tests.stacks.azure.bed import HOME

COMPUTE, NETWORK = "Microsoft.Compute", "Microsoft.Network"


def place(world: World) -> str:
    assert world.fleet.azure
    return f"/subscriptions/{world.fleet.azure.subscription_id}/resourceGroups/example-{HOME}/providers"


def machine(azure: LocalAzure, world: World, name: str) -> Any:
    version = "2024-11-01"
    return azure.ask("GET", f"{place(world)}/{COMPUTE}/virtualMachines/example-{name}", version=version).json()


def as_machine(azure: LocalAzure, world: World, name: str, service: str) -> GivenToken:
    """What the machine's own metadata would hand it."""
    identity = f"{place(world)}/Microsoft.ManagedIdentity/userAssignedIdentities/example-{name}"
    told = azure.own("token", {"identity": identity, "resource": f"https://{service}"}, "POST")
    return GivenToken(told["access_token"])


def blobs(azure: LocalAzure, world: World, token: GivenToken, region: str = HOME) -> Any:
    url = f"https://{bucket_name(world.fleet, region)}.blob.core.windows.net"
    client = BlobServiceClient(url, token, transport=azure.transport(), retry_total=0)
    return client.get_container_client("fleet")


def vault(azure: LocalAzure, world: World, token: GivenToken) -> SecretClient:
    url = f"https://{vault_name(world.fleet, HOME)}.vault.azure.net"
    return SecretClient(url, token, transport=azure.transport(), retry_total=0, verify_challenge_resource=False)


def refused(call: Any) -> bool:
    try:
        call()
    except HttpResponseError as error:
        return error.status_code == 403
    return False
