"""A local Azure over a folder, and a fleet in it."""

from collections.abc import Callable, Iterator
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

from ..support import Fleet, Server, running

GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/fleet"


class Azure(Server):
    """`local` is what tests of Azure ask."""

    local: LocalAzure

    def fleet(self) -> "AzureFleet":
        return AzureFleet(self)

    def making(self) -> Callable[[int, int], str | None]:
        def make(number: int, turn: int) -> str | None:
            path = f"{GROUP}-{number}-{turn}"
            return path if self.local.put(path, {"location": "southcentralus"}).status_code == 201 else None

        return make

    def made(self) -> list[str]:
        return [one for one in self.local.own("inventory")["Microsoft.Resources/resourceGroups"] if one != GROUP]


def served(folder: Path) -> Iterator[Azure]:
    home = folder / "home"
    local = LocalAzure(free_port(), free_port(), home / "azure-authority/ca.crt")
    words = ["local.azure.server", "--port", str(local.port), "--home", str(home), "--tls", f"127.0.0.1:{local.tls}"]
    server = Azure(words, f"http://127.0.0.1:{local.port}", folder / "log")
    server.local = local
    with running(server):
        local.put(GROUP, {"location": "southcentralus"})
        yield server


class AzureFleet(Fleet):
    def __init__(self, azure: Azure) -> None:
        self.local = local = azure.local
        here = Place(local, GROUP)
        machines = Machines(local, local.client(ComputeManagementClient), GROUP)
        machines.put(machine(machines.nic, machines.attached(machines.disk().id)))
        here.network("hub", "10.9.0.0/16")
        here.subnet("10.9.255.0/27", "GatewaySubnet", "hub")
        here.public("vpn")

        identities = local.client(ManagedServiceIdentityClient).user_assigned_identities
        identity = identities.create_or_update("fleet", "nodes", {"location": "southcentralus"})
        self.account = Account(local, GROUP, {"isVersioningEnabled": True})
        for body in (b"small", b"first" * 400_000, b"second" * 400_000):
            self.account.fleet().upload_blob("state", body, overwrite=True)
        self.page = self.account.fleet().get_blob_client("disk")
        self.page.create_page_blob(1 << 30)
        self.page.upload_page(b"p" * 512, offset=(1 << 29) + 512, length=512)
        self.key, self.vault, self.gone = self.account.key, Vault(local, GROUP), Vault(local, GROUP)
        self.vault.assign(DEPLOYER, OFFICER)
        self.vault.client().set_secret("token", "hush")
        local.ask("DELETE", self.gone.id)
        local.own("faults", [{"status": 409, "code": "SkuNotAvailable", "match": {"name": "nobody"}, "times": 2}])
        token = {"identity": identity.id, "resource": "https://vault.azure.net"}
        requests.post(f"{azure.url}/landbridge-api/keep", timeout=30).raise_for_status()
        self.given = local.own("token", token, "POST")
        local.own("pace", {"seconds": 0})

    def seen(self) -> Any:
        found: dict[str, Any] = {name: self.local.own(name) for name in ("inventory", "world", "faults")}
        for ids in found["inventory"].values():
            for one in ids:
                answer = self.local.ask("GET", one)
                found[one] = (answer.status_code, answer.json(), answer.headers.get("ETag"))
        return found

    def holds(self) -> None:
        blobs = self.account.fleet(self.key)
        assert blobs.download_blob("state").readall() == b"second" * 400_000
        assert self.page.download_blob(1 << 29, 1024).readall() == bytes(512) + b"p" * 512
        versions = self.account.fleet().list_blobs(include=["versions"])
        assert len([one for one in versions if one.name == "state"]) == 3
        assert self.vault.client().get_secret("token").value == "hush"

    def goes_on(self) -> None:
        deleted = self.local.ask("GET", f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.KeyVault/deletedVaults")
        assert self.gone.name in deleted.text
        assert self.local.client(ComputeManagementClient, token=None).virtual_machines.get("fleet", "planes-0")
        # The token is good, a role is not there.
        with pytest.raises(HttpResponseError, match="Forbidden"):
            self.vault.client(GivenToken(self.given["access_token"])).get_secret("token")
