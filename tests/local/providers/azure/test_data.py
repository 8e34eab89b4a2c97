"""What is not ARM's alone, or not ARM's at all: secrets, roles, blobs; against a local Azure, without an engine."""

import base64
import hashlib
import uuid
from typing import Any

import pytest

from local.azure import sign_in, tokens
from local.providers.azure.backend import Azure
from local.providers.servicer import ProviderError
from tests.local.azure.support import SUBSCRIPTION

STORAGE, BLOB = "azure-native:storage:StorageAccount", "azure-native:storage:Blob"
CONTAINER, SERVICE = "azure-native:storage:BlobContainer", "azure-native:storage:BlobServiceProperties"
VAULT, SECRET = "azure-native:keyvault:Vault", "azure-native:keyvault:Secret"
IDENTITY, ASSIGNED = "azure-native:managedidentity:UserAssignedIdentity", "azure-native:authorization:RoleAssignment"
ROLES = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions"
READER, SECRETS_OFFICER = "acdd72a7-3385-48ef-bd42-f606fba81ae7", "b86a8fe4-44ce-4948-aee5-eccb2c155cd7"


def short(group: str) -> str:
    return hashlib.sha256(group.encode()).hexdigest()[:16]


def account(group: str, **more: Any) -> dict[str, Any]:
    base = {"resourceGroupName": group, "accountName": f"a{short(group)}", "location": "southcentralus"}
    return base | {"kind": "StorageV2", "sku": {"name": "Standard_ZRS"}, "enableHttpsTrafficOnly": True} | more


def assignment(scope: str, principal: str, role: str) -> dict[str, str]:
    wanted = {"scope": scope, "principalId": principal, "roleDefinitionId": f"{ROLES}/{role}"}
    return wanted | {"principalType": "ServicePrincipal", "roleAssignmentName": str(uuid.uuid4())}


def text(content: str) -> dict[str, str]:
    mark = {"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17"}
    return {**mark, "hash": hashlib.sha256(content.encode()).hexdigest(), "text": content}


def test_an_account_with_its_container_and_a_blob(plugin: Azure, group: str) -> None:
    inputs = account(group, allowSharedKeyAccess=True)
    id_, state = plugin.create(STORAGE, inputs)
    assert state["enableHttpsTrafficOnly"] is True
    assert state["primaryEndpoints"]["blob"] == f"https://{inputs['accountName']}.blob.core.windows.net/"
    within = {name: inputs[name] for name in ("resourceGroupName", "accountName")}
    service = {**within, "blobServicesName": "default", "isVersioningEnabled": True}
    service_id, told = plugin.create(SERVICE, service)
    assert told["isVersioningEnabled"] is True
    plugin.create(CONTAINER, {**within, "containerName": "fleet", "publicAccess": "None"})
    blob = {**within, "containerName": "fleet", "blobName": "a b/c.json", "contentType": "application/json"}
    blob |= {"source": text("{}"), "type": "Block", "metadata": {"a": "b"}}
    blob_id, found = plugin.create(BLOB, blob)
    assert found["contentMd5"] == base64.b64encode(hashlib.md5(b"{}", usedforsecurity=False).digest()).decode()
    assert (found["contentType"], found["metadata"], found["type"]) == ("application/json", {"a": "b"}, "Block")
    with pytest.raises(ProviderError, match="cannot create already existing"):
        plugin.create(BLOB, blob)
    same = plugin.read(BLOB, blob_id, blob, found)
    assert same == (blob, found)
    changed = {**blob, "metadata": {"a": "c"}, "contentType": "text/plain"}
    now = plugin.update(BLOB, blob_id, blob, changed, found)
    assert (now["metadata"], now["contentType"], now["contentMd5"]) == ({"a": "c"}, "text/plain", found["contentMd5"])
    plugin.delete(BLOB, blob_id, now)
    assert plugin.read(BLOB, blob_id, changed, now) is None
    plugin.delete(BLOB, blob_id, now)
    plugin.delete(SERVICE, service_id, told)
    keys = plugin.invoke("azure-native:storage:listStorageAccountKeys", within)["keys"]
    assert [key["keyName"] for key in keys] == ["key1", "key2"]
    plugin.delete(STORAGE, id_, state)
    plugin.delete(BLOB, blob_id, now)
    plugin.delete(SERVICE, service_id, told)


def test_an_account_without_shared_keys_takes_no_blob(plugin: Azure, group: str) -> None:
    inputs = account(group, allowSharedKeyAccess=False)
    plugin.create(STORAGE, inputs)
    within = {name: inputs[name] for name in ("resourceGroupName", "accountName")}
    plugin.create(CONTAINER, {**within, "containerName": "fleet"})
    with pytest.raises(ProviderError, match="KeyBasedAuthenticationNotPermitted"):
        plugin.create(BLOB, {**within, "containerName": "fleet", "blobName": "a", "source": text("")})


def test_a_secret_s_value_is_never_told_and_goes_by_the_vault(plugin: Azure, group: str) -> None:
    properties = {
        "tenantId": sign_in.TENANT,
        "sku": {"family": "A", "name": "standard"},
        "enableRbacAuthorization": True,
    }
    base = {"resourceGroupName": group, "vaultName": f"v{short(group)}"}
    vault = {**base, "location": "southcentralus", "properties": properties}
    vault_id, state = plugin.create(VAULT, vault)
    assert plugin.read(VAULT, vault_id, vault, state) == (vault, state)
    secret = {**base, "secretName": "one", "properties": {"value": "hush-42", "attributes": {"expires": 4102444800}}}
    id_, found = plugin.create(SECRET, secret)
    assert "hush-42" not in str(found)
    assert found["properties"]["attributes"]["expires"] == 4102444800
    assert plugin.read(SECRET, id_, secret, found) == (secret, found)
    # Owning a vault is no right to what is in it.
    with pytest.raises(ProviderError, match='Status=403 Code="Forbidden"'):
        plugin.delete(SECRET, id_, found)
    plugin.create(ASSIGNED, assignment(vault_id, tokens.DEPLOYER, SECRETS_OFFICER))
    plugin.delete(SECRET, id_, found)
    assert plugin.read(SECRET, id_, secret, found) is None
    plugin.delete(SECRET, id_, found)


def test_an_identity_gets_a_role(plugin: Azure, group: str, place: str) -> None:
    identity = {"resourceGroupName": group, "resourceName": "one", "location": "southcentralus"}
    _, state = plugin.create(IDENTITY, identity)
    wanted = assignment(place, state["principalId"], READER)
    checked = plugin.check(ASSIGNED, "reads", {}, {**wanted, "roleAssignmentName": None}, b"seed")
    assert str(uuid.UUID(checked["roleAssignmentName"])) == checked["roleAssignmentName"]
    id_, found = plugin.create(ASSIGNED, checked)
    assert id_ == f"{place}/providers/Microsoft.Authorization/roleAssignments/{checked['roleAssignmentName']}"
    read = plugin.read(ASSIGNED, id_, checked, found)
    assert read is not None
    assert read[0] == checked
    assert {"principalId", "scope", "roleAssignmentName"} <= plugin.replaces(ASSIGNED)
    plugin.delete(ASSIGNED, id_, found)
