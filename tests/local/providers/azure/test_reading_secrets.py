"""How programs read a vault's secret: the provider's own token, the vault's own API, over TLS and by its name."""

import socket
import time
from typing import Any

import pytest

from components.storage.azure import secrets
from components.storage.azure.secrets import AUDIENCE, SecretError, newest
from local.azure import sign_in, tokens
from local.providers.azure.backend import Azure
from tests.local.azure.reached import by_name
from tests.local.azure.support import SUBSCRIPTION, LocalAzure
from tests.local.providers.azure.test_data import ASSIGNED, SECRET, SECRETS_OFFICER, VAULT, assignment, short

TOKEN = "azure-native:authorization:getClientToken"


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch, azure: LocalAzure) -> None:
    by_name(monkeypatch, azure)


@pytest.fixture
def vault(plugin: Azure, group: str) -> str:
    """With a secret `prefix--admin`, which nobody may read yet."""
    properties = {
        "tenantId": sign_in.TENANT,
        "sku": {"family": "A", "name": "standard"},
        "enableRbacAuthorization": True,
    }
    base = {"resourceGroupName": group, "vaultName": f"v{short(group)}"}
    plugin.create(VAULT, {**base, "location": "southcentralus", "properties": properties})
    plugin.create(SECRET, {**base, "secretName": "prefix--admin", "properties": {"value": "hush-42"}})
    return base["vaultName"]


@pytest.mark.usefixtures("names")
def test_whoever_has_a_role_on_the_vault_reads_it(plugin: Azure, group: str, vault: str) -> None:
    token = plugin.invoke(TOKEN, {"endpoint": AUDIENCE})["token"]
    with pytest.raises(
        SecretError, match=rf"vault {vault} does not tell secret prefix--admin: 403 .*azure.operators"
    ) as e:
        newest(vault, "prefix--admin", token)
    assert token not in str(e.value)
    place = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/Microsoft.KeyVault/vaults/{vault}"
    plugin.create(ASSIGNED, assignment(place, tokens.DEPLOYER, SECRETS_OFFICER))
    assert newest(vault, "prefix--admin", token) == newest(vault, "prefix/admin", token) == "hush-42"
    with pytest.raises(SecretError, match=r"secret another: 404 .*landbridge up"):
        newest(vault, "another", token)
    with pytest.raises(SecretError, match=r"401"):
        newest(vault, "prefix--admin", plugin.invoke(TOKEN, {})["token"])


def test_a_vault_out_of_reach_is_asked_again_and_then_named(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[Any] = []

    def away(*_: Any, **__: Any) -> socket.socket:
        tries.append(1)
        raise OSError("no way there")

    monkeypatch.setattr(socket, "create_connection", away)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(SecretError, match=r"vault v1 cannot be reached for secret s: .*no way there"):
        newest("v1", "s", "token")
    assert len(tries) == secrets.TRIES
