"""Storage accounts, containers, rules and shares, by azure-mgmt-storage."""

import uuid
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.mgmt.storage import StorageManagementClient

from .support import LocalAzure

PLAIN = {"location": "southcentralus", "kind": "StorageV2", "sku": {"name": "Standard_ZRS"}}
FILES = {
    "location": "southcentralus",
    "kind": "FileStorage",
    "sku": {"name": "Premium_ZRS"},
    "properties": {"supportsHttpsTrafficOnly": False},
}


def a_name() -> str:
    return f"st{uuid.uuid4().hex[:12]}"


@pytest.fixture
def storage(azure: LocalAzure) -> Any:
    return azure.client(StorageManagementClient)


def refused(code: str) -> Any:
    return pytest.raises(HttpResponseError, match=code)


def test_an_account_has_endpoints_keys_and_what_azure_fills_in(storage: Any, group: str) -> None:
    name = a_name()
    properties = {"minimumTlsVersion": "TLS1_2", "encryption": {"requireInfrastructureEncryption": True}}
    made = storage.storage_accounts.begin_create(group, name, {**PLAIN, "properties": properties}).result()
    assert (made.provisioning_state, made.sku.tier, made.access_tier) == ("Succeeded", "Standard", "Hot")
    assert made.primary_endpoints.blob == f"https://{name}.blob.core.windows.net/"
    assert made.enable_https_traffic_only
    assert made.allow_blob_public_access is False
    assert made.encryption.require_infrastructure_encryption
    assert made.encryption.services.blob.enabled
    keys = storage.storage_accounts.list_keys(group, name).keys_property
    fresh = storage.storage_accounts.regenerate_key(group, name, {"keyName": "key1"}).keys_property
    assert [one.key_name for one in keys] == ["key1", "key2"]
    assert fresh[0].value != keys[0].value
    assert fresh[1].value == keys[1].value
    changed = storage.storage_accounts.update(group, name, {"properties": {"allowSharedKeyAccess": False}})
    assert (changed.allow_shared_key_access, changed.minimum_tls_version) == (False, "TLS1_2")
    assert changed.creation_time == made.creation_time


def test_a_name_is_its_first_owners_in_all_the_world(storage: Any, azure: LocalAzure, group: str) -> None:
    name = a_name()
    storage.storage_accounts.begin_create(group, name, PLAIN).result()
    other = f"{group}-other"
    azure.put(f"/subscriptions/{storage._config.subscription_id}/resourceGroups/{other}", {"location": "westeurope"})
    with refused("StorageAccountInAnotherResourceGroup"):
        storage.storage_accounts.begin_create(other, name, PLAIN)
    there = f"/subscriptions/{uuid.uuid4()}/resourceGroups/there"
    azure.put(there, {"location": "westeurope"})
    answer = azure.put(f"{there}/providers/Microsoft.Storage/storageAccounts/{name}", PLAIN)
    assert answer.json()["error"]["code"] == "StorageAccountAlreadyTaken"
    free = storage.storage_accounts.check_name_availability({"name": name})
    assert (free.name_available, free.reason) == (False, "AlreadyExists")


@pytest.mark.parametrize(
    ("name", "change", "code"),
    [
        ("With-Hyphen", {}, "AccountNameInvalid"),
        (None, {"sku": {"name": "Best_LRS"}}, "InvalidValuesForRequestParameters"),
        (None, {"kind": "FileStorage"}, "InvalidAccountSku"),
        (None, {"properties": {"minimumTlsVersion": "TLS9"}}, "InvalidValuesForRequestParameters"),
        (None, {"identity": {"type": "UserAssigned"}}, "InvalidIdentityIds"),
    ],
)
def test_an_account_that_azure_would_not_make_is_refused(
    azure: LocalAzure, place: str, name: str | None, change: Any, code: str
) -> None:
    answer = azure.put(f"{place}/providers/Microsoft.Storage/storageAccounts/{name or a_name()}", {**PLAIN, **change})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


def test_an_account_of_its_own_identity_is_a_principal(storage: Any, group: str) -> None:
    name = a_name()
    made = storage.storage_accounts.begin_create(
        group, name, {**PLAIN, "identity": {"type": "SystemAssigned"}}
    ).result()
    assert uuid.UUID(made.identity.principal_id)
    again = storage.storage_accounts.update(group, name, {"tags": {"a": "b"}})
    assert again.identity.principal_id == made.identity.principal_id


def test_containers_and_the_rules_of_their_blobs(storage: Any, group: str) -> None:
    name = a_name()
    storage.storage_accounts.begin_create(group, name, PLAIN).result()
    told = {"isVersioningEnabled": True, "deleteRetentionPolicy": {"enabled": True, "days": 7}}
    service = storage.blob_services.set_service_properties(group, name, {"properties": told})
    assert (service.is_versioning_enabled, service.delete_retention_policy.days) == (True, 7)
    made = storage.blob_containers.create(group, name, "fleet", {"properties": {"publicAccess": "None"}})
    assert (made.public_access, made.has_legal_hold) == ("None", False)
    assert [one.name for one in storage.blob_containers.list(group, name)] == ["fleet"]
    rule = {
        "name": "old",
        "type": "Lifecycle",
        "definition": {
            "actions": {"version": {"delete": {"daysAfterCreationGreaterThan": 30}}},
            "filters": {"blobTypes": ["blockBlob"], "prefixMatch": ["fleet/"]},
        },
    }
    policy = {"properties": {"policy": {"rules": [rule]}}}
    kept = storage.management_policies.create_or_update(group, name, "default", policy)
    assert kept.policy.rules[0].enabled
    with refused("InvalidRequestPropertyValue"):
        rule["definition"]["actions"] = {"version": {"burn": {}}}
        storage.management_policies.create_or_update(group, name, "default", policy)
    with refused("PublicAccessNotPermitted"):
        storage.blob_containers.create(group, name, "open", {"properties": {"publicAccess": "Blob"}})
    with refused("InvalidResourceName"):
        storage.blob_containers.create(group, name, "No-Capitals", {})
    storage.storage_accounts.delete(group, name)
    with pytest.raises(ResourceNotFoundError):
        storage.blob_containers.get(group, name, "fleet")


def test_nfs_is_for_premium_files_without_https(storage: Any, group: str) -> None:
    name, plain = a_name(), a_name()
    storage.storage_accounts.begin_create(group, name, FILES).result()
    nfs = {"properties": {"enabledProtocols": "NFS", "rootSquash": "RootSquash", "shareQuota": 100}}
    made = storage.file_shares.create(group, name, "home", nfs)
    assert (made.enabled_protocols, made.root_squash, made.share_quota) == ("NFS", "RootSquash", 100)
    grown = storage.file_shares.update(group, name, "home", {"properties": {"shareQuota": 200}})
    assert (grown.share_quota, grown.root_squash) == (200, "RootSquash")
    with refused("InvalidHeaderValue"):
        storage.file_shares.create(group, name, "small", {"properties": {**nfs["properties"], "shareQuota": 50}})
    storage.storage_accounts.begin_create(group, plain, PLAIN).result()
    with refused("FeatureNotSupportedForAccount"):
        storage.file_shares.create(group, plain, "home", nfs)
    storage.storage_accounts.update(group, name, {"properties": {"supportsHttpsTrafficOnly": True}})
    with refused("FeatureNotSupportedForAccount"):
        storage.file_shares.create(group, name, "other", nfs)
    with refused("FeatureNotSupportedForAccount"):
        storage.blob_services.set_service_properties(group, name, {"properties": {}})
