"""The local Azure's world outlives kill -9, call for call, with what it gave and what waits."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from azure.core.exceptions import HttpResponseError
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.msi import ManagedServiceIdentityClient

from local.azure.server import free_port
from local.azure.tokens import DEPLOYER
from tests.local.azure.machines import machine
from tests.local.azure.network_support import Place
from tests.local.azure.support import SUBSCRIPTION, GivenToken, LocalAzure
from tests.local.azure.test_blobs import Account
from tests.local.azure.test_machines import Machines
from tests.local.azure.test_secrets import OFFICER, Vault

from ..support import CALLERS, Server, killed_under_calls, running

GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/fleet"


class Azure(Server):
    """`local` is what tests of Azure ask."""

    local: LocalAzure


@pytest.fixture
def azure(tmp_path: Path) -> Iterator[Azure]:
    home = tmp_path / "home"
    local = LocalAzure(free_port(), free_port(), home / "azure-authority/ca.crt")
    words = ["local.azure.server", "--port", str(local.port), "--home", str(home), "--tls", f"127.0.0.1:{local.tls}"]
    server = Azure(words, f"http://127.0.0.1:{local.port}", tmp_path / "log")
    server.local = local
    with running(server):
        local.put(GROUP, {"location": "southcentralus"})
        yield server


def _seen(local: LocalAzure) -> dict[str, Any]:
    """All that somebody who asks sees."""
    found: dict[str, Any] = {name: local.own(name) for name in ("inventory", "world", "faults")}
    for ids in found["inventory"].values():
        for one in ids:
            answer = local.ask("GET", one)
            found[one] = (answer.status_code, answer.json(), answer.headers.get("ETag"))
    return found


def test_a_fleets_world_outlives_kills_and_stops_and_what_was_given_holds(azure: Azure) -> None:
    local = azure.local
    here = Place(local, GROUP)
    machines = Machines(local, local.client(ComputeManagementClient), GROUP)
    machines.put(machine(machines.nic, machines.attached(machines.disk().id)))
    here.network("hub", "10.9.0.0/16")
    here.subnet("10.9.255.0/27", "GatewaySubnet", "hub")
    here.public("vpn")

    identities = local.client(ManagedServiceIdentityClient).user_assigned_identities
    identity = identities.create_or_update("fleet", "nodes", {"location": "southcentralus"})
    account = Account(local, GROUP, {"isVersioningEnabled": True})
    for body in (b"small", b"first" * 400_000, b"second" * 400_000):
        account.fleet().upload_blob("state", body, overwrite=True)
    page = account.fleet().get_blob_client("disk")
    page.create_page_blob(1 << 30)
    page.upload_page(b"p" * 512, offset=(1 << 29) + 512, length=512)
    key, vault, gone = account.key, Vault(local, GROUP), Vault(local, GROUP)
    vault.assign(DEPLOYER, OFFICER)
    vault.client().set_secret("token", "hush")
    local.ask("DELETE", gone.id)
    local.own("faults", [{"status": 409, "code": "SkuNotAvailable", "match": {"name": "nobody"}, "times": 2}])
    token = {"identity": identity.id, "resource": "https://vault.azure.net"}
    requests.post(f"{azure.url}/landbridge-api/keep", timeout=30).raise_for_status()
    given = local.own("token", token, "POST")
    local.own("pace", {"seconds": 0})
    before = _seen(local)
    for end in (azure.kill, azure.end, azure.kill):  # calls made again, a picture, both
        end()
        azure.start()
        assert _seen(local) == before
        assert account.fleet(key).download_blob("state").readall() == b"second" * 400_000
        assert page.download_blob(1 << 29, 1024).readall() == bytes(512) + b"p" * 512
        assert len([one for one in account.fleet().list_blobs(include=["versions"]) if one.name == "state"]) == 3
        assert vault.client().get_secret("token").value == "hush"
    deleted = local.ask("GET", f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.KeyVault/deletedVaults")
    assert gone.name in deleted.text
    assert local.client(ComputeManagementClient, token=None).virtual_machines.get("fleet", "planes-0")
    with pytest.raises(
        HttpResponseError,  # the token is good, a role is not there
        match="Forbidden",
    ):
        vault.client(GivenToken(given["access_token"])).get_secret("token")
    assert "another answer" not in azure.log.read_text()


def test_an_operation_that_was_going_on_ends_after_a_kill(azure: Azure) -> None:
    local = azure.local
    local.own("pace", {"seconds": 30})
    body = {"location": "southcentralus", "properties": {"addressSpace": {"addressPrefixes": ["10.1.0.0/16"]}}}
    path = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/slow"
    operation = local.put(path, body).headers["Azure-AsyncOperation"].partition("azure.com")[2]
    azure.kill()
    azure.start()
    assert local.ask("GET", operation, version=None).json()["status"] == "InProgress"
    local.own("finish", {}, "POST")
    azure.end()
    azure.start()
    assert local.ask("GET", operation, version=None).json()["status"] == "Succeeded"
    assert local.ask("GET", path).json()["properties"]["provisioningState"] == "Succeeded"


def test_what_was_answered_before_a_kill_is_there(azure: Azure) -> None:
    local = azure.local

    def call(number: int, turn: int) -> str | None:
        path = f"{GROUP}-{number}-{turn}"
        return path if local.put(path, {"location": "southcentralus"}).status_code == 201 else None

    answered = killed_under_calls(azure, call)
    found = local.own("inventory")["Microsoft.Resources/resourceGroups"]
    assert set(answered) <= set(found)
    assert len(found) <= len(answered) + CALLERS + 1
