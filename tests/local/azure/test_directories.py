"""A subscription is in one directory, which is that of whoever first came as its owner."""

from typing import Any

import jwt
import pytest
from azure.core.exceptions import HttpResponseError
from azure.identity import ClientSecretCredential
from azure.mgmt.keyvault import KeyVaultManagementClient
from azure.mgmt.msi import ManagedServiceIdentityClient
from azure.mgmt.resource.resources import ResourceManagementClient

from local.azure import tokens

from .support import LocalAzure

MINE, OTHER = "00000000-0000-4000-8000-0000000000e1", "00000000-0000-4000-8000-0000000000e2"
SUBSCRIPTION = "00000000-0000-4000-8000-0000000000e0"
VAULT = {"tenantId": MINE, "sku": {"family": "A", "name": "standard"}, "enableRbacAuthorization": True}


def client(azure: LocalAzure, kind: Any, tenant: str) -> Any:
    credential = ClientSecretCredential(
        tenant, tokens.CLIENT, tokens.SECRET, transport=azure.transport(), disable_instance_discovery=True
    )
    return kind(credential, SUBSCRIPTION, transport=azure.transport())


@pytest.fixture
def group(azure: LocalAzure) -> str:
    made = client(azure, ResourceManagementClient, MINE)
    return str(made.resource_groups.create_or_update("directories", {"location": "westus3"}).name)


def vault(azure: LocalAzure, name: str, group: str, **told: str) -> Any:
    wanted = {"location": "westus3", "properties": {**VAULT, **told}}
    return client(azure, KeyVaultManagementClient, MINE).vaults.begin_create_or_update(group, name, wanted).result()


def test_another_directory_s_token_is_refused_as_azure_does(azure: LocalAzure, group: str) -> None:
    with pytest.raises(HttpResponseError) as refused:
        client(azure, ResourceManagementClient, OTHER).resource_groups.get(group)
    assert refused.value.status_code == 401
    assert refused.value.error.code == "InvalidAuthenticationTokenTenant"
    assert f"wrong issuer 'https://sts.windows.net/{OTHER}/'" in refused.value.message
    assert f"must match the tenant 'https://sts.windows.net/{MINE}/'" in refused.value.message


def test_what_is_in_it_is_of_its_directory(azure: LocalAzure, group: str) -> None:
    identities = client(azure, ManagedServiceIdentityClient, MINE).user_assigned_identities
    made = identities.create_or_update(group, "machine", {"location": "westus3"})
    assert made.tenant_id == MINE
    token = azure.own("token", {"identity": made.id, "resource": tokens.ARM}, "POST")["access_token"]
    assert jwt.decode(token, options={"verify_signature": False})["tid"] == MINE


def test_a_vault_is_of_its_directory_and_says_so_to_whom_it_does_not_know(azure: LocalAzure, group: str) -> None:
    with pytest.raises(HttpResponseError, match=f"The tenant ID '{OTHER}' in request is not the directory's: {MINE}"):
        vault(azure, "of-another", group, tenantId=OTHER)
    vault(azure, "of-mine", group)
    with azure.transport() as line:
        answer = line.session.get("https://of-mine.vault.azure.net/secrets?api-version=7.4", timeout=30)  # type: ignore[union-attr]
    assert answer.status_code == 401
    assert f'authorization="https://login.microsoftonline.com/{MINE}"' in answer.headers["WWW-Authenticate"]
