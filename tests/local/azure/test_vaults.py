"""Key vaults, their secrets and keys by azure-mgmt-keyvault."""

import uuid
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.mgmt.keyvault import KeyVaultManagementClient

from local.azure.sign_in import TENANT

from .support import LocalAzure

PROPERTIES = {
    "tenantId": TENANT,
    "sku": {"family": "A", "name": "standard"},
    "enableRbacAuthorization": True,
    "softDeleteRetentionInDays": 7,
}
VAULT = {"location": "southcentralus", "properties": PROPERTIES}


def a_name() -> str:
    return f"v-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def vaults(azure: LocalAzure) -> Any:
    return azure.client(KeyVaultManagementClient)


def refused(code: str) -> Any:
    return pytest.raises(HttpResponseError, match=code)


def test_a_deleted_vault_keeps_its_name_and_comes_back_with_all_its_secrets(vaults: Any, group: str) -> None:
    name = a_name()
    made = vaults.vaults.begin_create_or_update(group, name, VAULT).result()
    assert (made.properties.vault_uri, made.properties.enable_soft_delete) == (f"https://{name}.vault.azure.net/", True)
    secret = vaults.secrets.create_or_update(group, name, "key", {"properties": {"value": "hidden-from-all"}})
    assert "hidden-from-all" not in str(secret.as_dict())
    assert secret.properties.secret_uri_with_version.startswith(f"https://{name}.vault.azure.net/secrets/key/")
    vaults.vaults.delete(group, name)
    assert vaults.vaults.get_deleted(name, "southcentralus").properties.vault_id == made.id
    assert name in [one.name for one in vaults.vaults.list_deleted()]
    with refused("ConflictError"):
        vaults.vaults.begin_create_or_update(group, name, VAULT)
    assert not vaults.vaults.check_name_availability({"name": name, "type": "Microsoft.KeyVault/vaults"}).name_available
    back = {**VAULT, "properties": {**PROPERTIES, "createMode": "recover"}}
    vaults.vaults.begin_create_or_update(group, name, back).result()
    assert vaults.secrets.get(group, name, "key").properties.secret_uri == secret.properties.secret_uri
    vaults.vaults.delete(group, name)
    vaults.vaults.begin_purge_deleted(name, "southcentralus").result()
    with pytest.raises(ResourceNotFoundError):
        vaults.vaults.get_deleted(name, "southcentralus")
    vaults.vaults.begin_create_or_update(group, name, VAULT).result()
    with pytest.raises(ResourceNotFoundError):
        vaults.secrets.get(group, name, "key")


def test_nobody_purges_what_is_protected(vaults: Any, group: str) -> None:
    name = a_name()
    safe = {**VAULT, "properties": {**PROPERTIES, "enablePurgeProtection": True}}
    vaults.vaults.begin_create_or_update(group, name, safe).result()
    assert vaults.vaults.begin_create_or_update(group, name, VAULT).result().properties.enable_purge_protection
    vaults.vaults.delete(group, name)
    with refused("MethodNotAllowed"):
        vaults.vaults.begin_purge_deleted(name, "southcentralus")


@pytest.mark.parametrize(
    ("name", "change", "code"),
    [
        ("1-begins-with-a-digit", {}, "VaultNameNotValid"),
        ("two--hyphens", {}, "VaultNameNotValid"),
        (None, {"softDeleteRetentionInDays": 5}, "BadRequest"),
        (None, {"enableSoftDelete": False}, "BadRequest"),
        (None, {"enablePurgeProtection": False}, "BadRequest"),
        (None, {"enableRbacAuthorization": False}, "accessPolicies"),
        (None, {"tenantId": str(uuid.uuid4())}, "BadRequest"),
        (None, {"createMode": "recover"}, "DeletedVaultNotFound"),
    ],
)
def test_a_vault_that_azure_would_not_make_is_refused(
    vaults: Any, group: str, name: str | None, change: Any, code: str
) -> None:
    with refused(code):
        vaults.vaults.begin_create_or_update(group, name or a_name(), {**VAULT, "properties": {**PROPERTIES, **change}})


def test_a_secret_has_a_size_and_a_new_version_for_each_value(vaults: Any, group: str) -> None:
    name = a_name()
    vaults.vaults.begin_create_or_update(group, name, VAULT).result()

    def put(value: str) -> Any:
        return vaults.secrets.create_or_update(group, name, "key", {"properties": {"value": value}}).properties

    assert put("a" * 25_600).secret_uri_with_version != put("b").secret_uri_with_version
    with refused("BadParameter"):
        put("a" * 25_601)
    with refused("BadParameter"):
        vaults.secrets.create_or_update(group, name, "under_score", {"properties": {"value": "x"}})
    off = vaults.secrets.update(group, name, "key", {"properties": {"attributes": {"enabled": False}}}).properties
    assert off.attributes.enabled is False


def test_a_key_is_made_once(vaults: Any, group: str) -> None:
    name = a_name()
    vaults.vaults.begin_create_or_update(group, name, VAULT).result()
    first = vaults.keys.create_if_not_exist(group, name, "k", {"properties": {"kty": "RSA", "keySize": 3072}})
    again = vaults.keys.create_if_not_exist(group, name, "k", {"properties": {"kty": "EC"}})
    assert (again.key_uri_with_version, again.kty, again.key_size) == (first.key_uri_with_version, "RSA", 3072)
    with refused("BadParameter"):
        vaults.keys.create_if_not_exist(group, name, "l", {"properties": {"kty": "RSA", "keySize": 1024}})
