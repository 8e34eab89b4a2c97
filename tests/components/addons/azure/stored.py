"""The fleet's container in the local Azure, as an identity with one condition sees it."""

import uuid
from collections.abc import Iterable
from typing import Any

from azure.mgmt.authorization import AuthorizationManagementClient
from azure.mgmt.msi import ManagedServiceIdentityClient
from azure.mgmt.storage import StorageManagementClient
from azure.storage.blob import BlobServiceClient

from components.addons.azure import team_roles
from tests.components.addons.azure.test_addons import SOUTH
from tests.local.azure.support import SUBSCRIPTION, GivenToken, LocalAzure


def container(
    azure: LocalAzure, group: str, condition: str, paths: Iterable[str], role: str = team_roles.CONTRIBUTOR
) -> Any:
    """With a blob of each of these paths; `role` is one of Azure's own."""
    name = f"t{uuid.uuid4().hex[:16]}"
    about = {"location": SOUTH, "kind": "StorageV2", "sku": {"name": "Standard_ZRS"}}
    storage = azure.client(StorageManagementClient)
    storage.storage_accounts.begin_create(group, name, about).result()
    made = storage.blob_containers.create(group, name, "fleet", {})
    identity = azure.client(ManagedServiceIdentityClient).user_assigned_identities.create_or_update(
        group, "theirs", {"location": SOUTH}
    )
    definitions = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions"
    properties = {
        "roleDefinitionId": f"{definitions}/{role}",
        "principalId": identity.principal_id,
        "principalType": "ServicePrincipal",
        "condition": condition,
        "conditionVersion": "2.0",
    }
    roles = azure.client(AuthorizationManagementClient).role_assignments
    roles.create(made.id, str(uuid.uuid4()), {"properties": properties})
    token = azure.own("token", {"identity": identity.id, "resource": "https://storage.azure.com/"}, "POST")
    key = storage.storage_accounts.list_keys(group, name).keys_property[0].value
    url = f"https://{name}.blob.core.windows.net"
    owner = BlobServiceClient(url, {"account_name": name, "account_key": key}, transport=azure.transport())
    for path in paths:
        owner.get_blob_client("fleet", path).upload_blob(b"1")
    theirs = BlobServiceClient(url, GivenToken(token["access_token"]), transport=azure.transport())
    return theirs.get_container_client("fleet")
