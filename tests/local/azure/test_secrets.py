"""Secrets of a vault by azure-keyvault-secrets, which finds its way to a token by the vault's challenge."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.keyvault.secrets import SecretClient
from azure.mgmt.authorization import AuthorizationManagementClient
from azure.mgmt.msi import ManagedServiceIdentityClient

from local.azure.sign_in import TENANT
from local.azure.tokens import DEPLOYER

from .network_support import Place, reference
from .support import SUBSCRIPTION, GivenToken, LocalAzure

OFFICER, USER = "b86a8fe4-44ce-4948-aee5-eccb2c155cd7", "4633458b-17de-408a-b874-0445c86b69e6"
PROPERTIES = {
    "tenantId": TENANT,
    "sku": {"family": "A", "name": "standard"},
    "enableRbacAuthorization": True,
    "softDeleteRetentionInDays": 7,
}


class Vault:
    """A vault of the test's own."""

    def __init__(self, azure: LocalAzure, place: str, **properties: Any) -> None:
        self.azure, self.name = azure, f"v-{uuid.uuid4().hex[:12]}"
        self.id = f"{place}/providers/Microsoft.KeyVault/vaults/{self.name}"
        told = {"location": "southcentralus", "properties": {**PROPERTIES, **properties}}
        assert azure.put(self.id, told, "2023-07-01").status_code == 201
        azure.ask("GET", self.id)

    def client(self, credential: Any = None) -> SecretClient:
        transport = self.azure.transport()
        url = f"https://{self.name}.vault.azure.net"
        return SecretClient(url, credential or self.azure.credential(), transport=transport, retry_total=0)

    def assign(self, principal: str, role: str, scope: str = "") -> None:
        roles = self.azure.client(AuthorizationManagementClient)
        definition = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{role}"
        told = {"roleDefinitionId": definition, "principalId": principal}
        roles.role_assignments.create(scope or self.id, str(uuid.uuid4()), {"properties": told})


@pytest.fixture
def vault(azure: LocalAzure, place: str) -> Vault:
    made = Vault(azure, place)
    made.assign(DEPLOYER, OFFICER)
    return made


def refused(code: str) -> Any:
    return pytest.raises(HttpResponseError, match=code)


def test_of_a_group_that_is_out_neither_the_vault_nor_arm_answers(
    azure: LocalAzure, vault: Vault, place: str, group: str
) -> None:
    other = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}-beside"
    assert azure.put(other, {"location": "southcentralus"}).status_code == 201
    vault.client().set_secret("kept", "hush")
    assert azure.own("faults", [{"outage": group}]) == [{"outage": group}]
    with refused("ServiceUnavailable"):
        vault.client().get_secret("kept")
    answers = [azure.ask("GET", path) for path in (place, vault.id, other)]
    assert [answer.status_code for answer in answers] == [503, 503, 200]
    azure.own("faults", [])
    assert vault.client().get_secret("kept").value == "hush"


def test_a_secret_has_versions_and_is_the_same_to_arm(azure: LocalAzure, vault: Vault) -> None:
    client = vault.client()
    first = client.set_secret("key", "one", tags={"a": "b"}, content_type="text/plain")
    azure.put(f"{vault.id}/secrets/key", {"properties": {"value": "two"}})
    assert client.get_secret("key").value == "two"
    old = client.get_secret("key", first.properties.version)
    assert (old.value, old.properties.tags, old.properties.content_type) == ("one", {"a": "b"}, "text/plain")
    assert len(list(client.list_properties_of_secret_versions("key"))) == 2
    with pytest.raises(ResourceNotFoundError, match="SecretNotFound"):
        client.get_secret("other")
    with refused("BadParameter"):
        client.set_secret("key", "a" * 25_601)
    soon = datetime.now(UTC) + timedelta(days=1)
    changed = client.update_secret_properties("key", enabled=False, expires_on=soon)
    assert changed.expires_on == soon.replace(microsecond=0)
    with refused("disabled secret"):
        client.get_secret("key")


def test_lists_have_pages_and_no_values(vault: Vault) -> None:
    client = vault.client()
    for number in range(30):
        client.set_secret(f"s-{number:02}", "hidden")
    listed = list(client.list_properties_of_secrets())
    assert [one.name for one in listed] == [f"s-{number:02}" for number in range(30)]
    assert "hidden" not in str([vars(one) for one in listed])


def test_what_is_deleted_keeps_its_name_and_comes_back(vault: Vault) -> None:
    client = vault.client()
    client.set_secret("key", "one")
    gone = client.begin_delete_secret("key", _polling_interval=0.01).result()
    assert gone.scheduled_purge_date - gone.deleted_date == timedelta(days=7)
    with pytest.raises(ResourceNotFoundError):
        client.get_secret("key")
    with pytest.raises(ResourceExistsError, match="deleted but recoverable"):
        client.set_secret("key", "two")
    assert [one.name for one in client.list_deleted_secrets()] == ["key"]
    client.begin_recover_deleted_secret("key", _polling_interval=0.01).wait()
    assert client.get_secret("key").value == "one"
    client.begin_delete_secret("key", _polling_interval=0.01).wait()
    with refused("purge/action"):
        vault.assign(_own(vault), USER)
        _as(vault).purge_deleted_secret("key")
    client.purge_deleted_secret("key")
    client.set_secret("key", "two")


def _own(vault: Vault) -> str:
    group = vault.id.split("/")[4]
    identities = vault.azure.client(ManagedServiceIdentityClient).user_assigned_identities
    return str(identities.create_or_update(group, "machine", {"location": "southcentralus"}).principal_id)


def _as(vault: Vault) -> SecretClient:
    identity = (
        f"{vault.id.partition('/providers/')[0]}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/machine"
    )
    told = vault.azure.own("token", {"identity": identity, "resource": "https://vault.azure.net"}, "POST")
    return vault.client(GivenToken(told["access_token"]))


def test_a_machine_reads_the_one_secret_that_is_its_own(vault: Vault) -> None:
    for name in ("own", "other"):
        vault.client().set_secret(name, name)
    vault.assign(_own(vault), USER, f"{vault.id}/secrets/own")
    machine = _as(vault)
    assert machine.get_secret("own").value == "own"
    for wrong in (
        lambda: machine.get_secret("other"),
        lambda: list(machine.list_properties_of_secrets()),
        lambda: machine.set_secret("own", "mine"),
    ):
        with refused("Forbidden"):
            wrong()


def test_an_owner_reads_no_secrets_without_a_role_for_them(azure: LocalAzure, place: str) -> None:
    with refused("Forbidden"):
        Vault(azure, place).client().set_secret("key", "one")


def test_a_vault_may_go_by_its_own_policies(azure: LocalAzure, place: str) -> None:
    policy = {"tenantId": TENANT, "objectId": DEPLOYER, "permissions": {"secrets": ["Get", "Set"]}}
    vault = Vault(azure, place, enableRbacAuthorization=False, accessPolicies=[policy])
    vault.client().set_secret("key", "one")
    assert vault.client().get_secret("key").value == "one"
    with refused("Forbidden"):
        vault.client().begin_delete_secret("key")


@pytest.mark.parametrize("closed", [{"publicNetworkAccess": "Disabled"}, {"networkAcls": {"defaultAction": "Deny"}}])
def test_a_closed_vault_is_open_by_its_private_endpoint_alone(
    azure: LocalAzure, place: str, here: Place, closed: Any
) -> None:
    vault = Vault(azure, place, **closed)
    vault.assign(DEPLOYER, OFFICER)
    with refused("Public network access is disabled"):
        vault.client().set_secret("key", "one")
    here.network()
    subnet = here.subnet("10.1.0.0/24")
    connection = {"name": "it", "properties": {"privateLinkServiceId": vault.id, "groupIds": ["vault"]}}
    here.make(
        "privateEndpoints",
        "vault",
        properties={"subnet": reference(subnet), "privateLinkServiceConnections": [connection]},
    )
    told = azure.ask("GET", vault.id).json()["properties"]["privateEndpointConnections"]
    assert [one["properties"]["privateLinkServiceConnectionState"]["status"] for one in told] == ["Approved"]
    vault.client().set_secret("key", "one")
