"""Every answer of storage, vaults, identities and roles is of Azure's own models."""

import uuid
from typing import Any

import pytest
from azure.mgmt.authorization.v2022_04_01 import models as authorization
from azure.mgmt.keyvault import models as keyvault
from azure.mgmt.msi.v2024_11_30 import models as msi
from azure.mgmt.storage import models as storage

from local.azure.resources import KINDS
from local.azure.sign_in import TENANT
from local.azure.tokens import DEPLOYER

from . import shapes
from .support import LocalAzure, assert_model
from .test_storage import FILES, PLAIN

READER = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
LIFE = {
    "name": "old",
    "type": "Lifecycle",
    "definition": {
        "actions": {"baseBlob": {"delete": {"daysAfterModificationGreaterThan": 30}}},
        "filters": {"blobTypes": ["blockBlob"], "prefixMatch": ["fleet/"]},
    },
}
VAULT = {"tenantId": TENANT, "sku": {"family": "A", "name": "standard"}, "enableRbacAuthorization": True}
POD = {"issuer": "https://issuer.example.com", "subject": "a", "audiences": ["api://AzureADTokenExchange"]}
CUSTOM = {"roleName": "", "assignableScopes": [], "permissions": [{"actions": ["*/read"]}]}
# Path below the group, its body, the model of what is told.
CASES: list[tuple[str, Any, Any]] = [
    ("Microsoft.Storage/storageAccounts/ACCOUNT", PLAIN, storage.StorageAccount),
    (
        "Microsoft.Storage/storageAccounts/ACCOUNT/blobServices/default",
        {"properties": {"isVersioningEnabled": True, "deleteRetentionPolicy": {"enabled": True, "days": 7}}},
        storage.BlobServiceProperties,
    ),
    (
        "Microsoft.Storage/storageAccounts/ACCOUNT/blobServices/default/containers/fleet",
        {"properties": {"publicAccess": "None", "metadata": {"a": "b"}}},
        storage.BlobContainer,
    ),
    (
        "Microsoft.Storage/storageAccounts/ACCOUNT/managementPolicies/default",
        {"properties": {"policy": {"rules": [LIFE]}}},
        storage.ManagementPolicy,
    ),
    ("Microsoft.Storage/storageAccounts/FILES", FILES, storage.StorageAccount),
    ("Microsoft.Storage/storageAccounts/FILES/fileServices/default", {"properties": {}}, storage.FileServiceProperties),
    (
        "Microsoft.Storage/storageAccounts/FILES/fileServices/default/shares/home",
        {"properties": {"enabledProtocols": "NFS", "shareQuota": 100}},
        storage.FileShare,
    ),
    ("Microsoft.KeyVault/vaults/VAULT", {"location": "southcentralus", "properties": VAULT}, keyvault.Vault),
    ("Microsoft.KeyVault/vaults/VAULT/secrets/key", {"properties": {"value": "x"}}, keyvault.Secret),
    ("Microsoft.KeyVault/vaults/VAULT/keys/key", {"properties": {"kty": "RSA"}}, keyvault.Key),
    ("Microsoft.ManagedIdentity/userAssignedIdentities/one", {"location": "southcentralus"}, msi.Identity),
    (
        "Microsoft.ManagedIdentity/userAssignedIdentities/one/federatedIdentityCredentials/pod",
        {"properties": POD},
        msi.FederatedIdentityCredential,
    ),
    ("Microsoft.Authorization/roleDefinitions/ROLE", {"properties": CUSTOM}, authorization.RoleDefinition),
    (
        "Microsoft.Authorization/roleAssignments/ROLE",
        {"properties": {"roleDefinitionId": f"/providers/x/y/{READER}", "principalId": DEPLOYER}},
        authorization.RoleAssignment,
    ),
]


def test_answers_are_of_azures_own_models(azure: LocalAzure, place: str) -> None:
    names = {name: f"st{uuid.uuid4().hex[:12]}" for name in ("ACCOUNT", "FILES", "VAULT")}
    names["ROLE"] = str(uuid.uuid4())
    problems = []
    for path, body, model in CASES:
        for name, found in names.items():
            path = path.replace(f"/{name}", f"/{found}")
        if model is authorization.RoleDefinition:
            body = {"properties": {**CUSTOM, "roleName": place, "assignableScopes": [place]}}
        made = azure.put(f"{place}/providers/{path}", body)
        told = azure.ask("GET", f"{place}/providers/{path}").json()
        for answer in (made.json(), told):
            try:
                assert made.status_code in (200, 201, 202)
                assert_model(model, answer)
            except AssertionError as error:
                problems.append(f"{path}: {answer if made.status_code >= 400 else error}")
    azure.ask("DELETE", f"{place}/providers/Microsoft.KeyVault/vaults/{names['VAULT']}")
    deleted = f"/providers/Microsoft.KeyVault/locations/southcentralus/deletedVaults/{names['VAULT']}"
    assert_model(keyvault.DeletedVault, azure.ask("GET", f"{place.partition('/resourceGroups')[0]}{deleted}").json())
    assert problems == []


MISSPELT = [
    ("Microsoft.Storage/storageAccounts/NAME", PLAIN),
    ("Microsoft.KeyVault/vaults/NAME", {"location": "southcentralus", "properties": VAULT}),
    ("Microsoft.ManagedIdentity/userAssignedIdentities/NAME", {"location": "southcentralus"}),
]


@pytest.mark.parametrize(("path", "body"), MISSPELT)
def test_a_misspelt_property_is_refused(azure: LocalAzure, place: str, path: str, body: Any) -> None:
    wrong = {**body, "properties": {**body.get("properties", {}), "tpyo": True}}
    answer = azure.put(f"{place}/providers/{path.replace('NAME', f'st{uuid.uuid4().hex[:12]}')}", wrong)
    assert (answer.status_code, "Could not find member 'tpyo'" in answer.text) == (400, True)


@pytest.mark.parametrize(
    ("type_", "model"),
    [
        ("Microsoft.Storage/storageAccounts", storage.StorageAccountPropertiesCreateParameters),
        ("Microsoft.KeyVault/vaults", keyvault.VaultProperties),
    ],
)
def test_what_a_type_may_have_is_what_azures_model_has(type_: str, model: Any) -> None:
    kind = KINDS[type_.lower()]
    assert kind.known == set(shapes._fields(model)) - {*kind.read_only, "provisioningState"}
