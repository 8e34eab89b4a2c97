"""Blobs by azure-storage-blob: what is kept, what it was before, and who may have it."""

import os
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.mgmt.authorization import AuthorizationManagementClient
from azure.mgmt.msi import ManagedServiceIdentityClient
from azure.storage.blob import BlobBlock, BlobServiceClient, generate_blob_sas, generate_container_sas

from local.azure.tokens import DEPLOYER

from .network_support import Place, reference
from .support import SUBSCRIPTION, GivenToken, LocalAzure

READER, CONTRIBUTOR = "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1", "ba92f5b4-2d11-453d-a403-e96b0029c9fe"
ACCOUNT = {"location": "southcentralus", "kind": "StorageV2", "sku": {"name": "Standard_ZRS"}}
DELEGATOR = "db58b8e5-c6ad-4a2a-8342-4190687cbf4a"


class Account:
    """A storage account of the test's own, with one container."""

    def __init__(self, azure: LocalAzure, place: str, settings: Any = None) -> None:
        self.azure, self.name = azure, f"st{uuid.uuid4().hex[:12]}"
        self.id = f"{place}/providers/Microsoft.Storage/storageAccounts/{self.name}"
        self.service = f"{self.id}/blobServices/default"
        self.change({})
        azure.put(self.service, {"properties": settings or {}})
        azure.put(f"{self.service}/containers/fleet", {"properties": {}})
        self.key = azure.ask("POST", f"{self.id}/listKeys").json()["keys"][0]["value"]

    def change(self, properties: Any) -> None:
        answer = self.azure.put(self.id, {**ACCOUNT, "properties": properties})
        assert answer.status_code in (200, 202)
        assert self.azure.ask("GET", self.id).json()["properties"]["provisioningState"] == "Succeeded"

    def client(self, credential: Any = None, **more: Any) -> BlobServiceClient:
        url = f"https://{self.name}.blob.core.windows.net"
        transport = self.azure.transport()
        return BlobServiceClient(url, credential, transport=transport, retry_total=0, **more)

    def fleet(self, credential: Any = None, **more: Any) -> Any:
        return self.client(credential or self.key, **more).get_container_client("fleet")

    def assign(self, principal: str, role: str, scope: str = "", **more: Any) -> None:
        roles = self.azure.client(AuthorizationManagementClient)
        definition = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{role}"
        told = {"roleDefinitionId": definition, "principalId": principal, **more}
        roles.role_assignments.create(scope or self.id, str(uuid.uuid4()), {"properties": told})


@pytest.fixture
def account(azure: LocalAzure, place: str) -> Account:
    return Account(azure, place)


@pytest.fixture
def machine(azure: LocalAzure, group: str) -> Any:
    """An identity, with what its machine would get a token by."""
    client = azure.client(ManagedServiceIdentityClient)
    return client.user_assigned_identities.create_or_update(group, "machine", {"location": "southcentralus"})


def as_machine(azure: LocalAzure, machine: Any) -> GivenToken:
    told = azure.own("token", {"identity": machine.id, "resource": "https://storage.azure.com/"}, "POST")
    return GivenToken(told["access_token"])


def refused(code: str) -> Any:
    return pytest.raises(HttpResponseError, match=code)


def test_what_is_written_is_read_whole_and_in_parts(account: Account) -> None:
    blob = account.fleet().get_blob_client("a/b c+ä.txt")
    made = blob.upload_blob(b"0123456789", metadata={"one_two": "x"}, content_settings=None)
    assert blob.download_blob().readall() == b"0123456789"
    assert blob.download_blob(offset=2, length=3).readall() == b"234"
    told = blob.get_blob_properties()
    assert (told.size, told.metadata, told.etag) == (10, {"one_two": "x"}, made["etag"])
    with pytest.raises(ResourceExistsError):
        blob.upload_blob(b"other", overwrite=False)
    with refused("ConditionNotMet"):
        blob.upload_blob(b"other", overwrite=True, etag='"0x1"', match_condition=_match())
    blob.delete_blob()
    with pytest.raises(ResourceNotFoundError):
        blob.get_blob_properties()


def _match() -> Any:
    from azure.core import MatchConditions

    return MatchConditions.IfNotModified


def test_a_large_blob_comes_in_blocks(account: Account) -> None:
    data = os.urandom(3 << 20)
    blob = account.fleet(max_single_put_size=1 << 20, max_block_size=1 << 20).get_blob_client("large")
    blob.upload_blob(data)
    assert [one.size for one in blob.get_block_list()[0]] == [1 << 20] * 3
    assert blob.download_blob().readall() == data
    blob.stage_block("new0", b"tail")
    first = blob.get_block_list("all")[0][0].id
    blob.commit_block_list([BlobBlock(first), BlobBlock("new0")])
    assert blob.download_blob().readall() == data[: 1 << 20] + b"tail"
    blob.stage_block("new0", b"newer")
    blob.commit_block_list([BlobBlock("new0")])
    assert blob.download_blob().readall() == b"newer", "what waits is later than what is there"
    with refused("InvalidBlockList"):
        blob.commit_block_list([BlobBlock("none")])


def test_lists_go_by_prefix_and_by_pages(account: Account) -> None:
    fleet = account.fleet()
    for name in ("a/1", "a/2", "b/1", "c"):
        fleet.upload_blob(name, b"x")
    assert [one.name for one in fleet.list_blobs(name_starts_with="a/")] == ["a/1", "a/2"]
    assert [one.name for one in fleet.walk_blobs()] == ["a/", "b/", "c"]
    pages = fleet.list_blobs(results_per_page=3).by_page()
    assert [[one.name for one in page] for page in pages] == [["a/1", "a/2", "b/1"], ["c"]]
    assert [one.name for one in account.client(account.key).list_containers()] == ["fleet"]


def test_with_versions_what_was_before_stays(azure: LocalAzure, place: str) -> None:
    account = Account(azure, place, {"isVersioningEnabled": True})
    fleet = account.fleet()
    blob = fleet.get_blob_client("kept")
    first = blob.upload_blob(b"one")["version_id"]
    blob.upload_blob(b"two", overwrite=True)
    assert blob.download_blob(version_id=first).readall() == b"one"
    assert blob.download_blob().readall() == b"two"
    blob.delete_blob()
    assert list(fleet.list_blobs()) == []
    versions = list(fleet.list_blobs(include=["versions"]))
    assert [(one.name, one.is_current_version) for one in versions] == [("kept", None), ("kept", None)]
    fleet.get_blob_client("kept").delete_blob(version_id=first)
    assert len(list(fleet.list_blobs(include=["versions"]))) == 1
    back = f"{blob.url}?versionid={versions[1].version_id}"
    blob.start_copy_from_url(back)
    assert blob.download_blob().readall() == b"two"


def test_with_soft_delete_what_is_deleted_comes_back(azure: LocalAzure, place: str) -> None:
    account = Account(azure, place, {"deleteRetentionPolicy": {"enabled": True, "days": 7}})
    fleet = account.fleet()
    blob = fleet.get_blob_client("kept")
    blob.upload_blob(b"one")
    snapshot = blob.create_snapshot()["snapshot"]
    blob.upload_blob(b"two", overwrite=True)
    with refused("SnapshotsPresent"):
        blob.delete_blob()
    blob.delete_blob(delete_snapshots="include")
    assert list(fleet.list_blobs()) == []
    assert {one.deleted for one in fleet.list_blobs(include=["deleted", "snapshots"])} == {True}
    blob.undelete_blob()
    assert blob.download_blob().readall() == b"two"
    assert fleet.get_blob_client("kept", snapshot=snapshot).download_blob().readall() == b"one"


def test_a_disk_comes_in_pages(account: Account) -> None:
    blob = account.fleet().get_blob_client("disk.vhd")
    blob.create_page_blob(1 << 30)
    blob.upload_page(b"\1" * 1024, 512, 1024)
    blob.upload_page(b"\2" * 512, (1 << 30) - 512, 512)
    assert [(one.start, one.end) for one in blob.list_page_ranges()] == [
        (512, 1535),
        ((1 << 30) - 512, (1 << 30) - 1),
    ]
    assert blob.download_blob(offset=0, length=1024).readall() == bytes(512) + b"\1" * 512
    with refused("InvalidRange"):
        blob.upload_page(b"\1" * 512, 1 << 30, 512)


def test_only_a_right_key_is_taken_and_only_where_keys_are(account: Account) -> None:
    account.fleet().upload_blob("a", b"x", metadata={"b_c": "1", "bc": "2"})
    with refused("AuthenticationFailed"):
        account.fleet("d3Jvbmc=").get_blob_client("a").download_blob()
    with refused("PublicAccessNotPermitted"):
        account.client().get_container_client("fleet").get_blob_client("a").download_blob()
    account.change({"allowSharedKeyAccess": False})
    with refused("KeyBasedAuthenticationNotPermitted"):
        account.fleet().get_blob_client("a").download_blob()


def test_an_owner_reads_no_blobs_without_a_role_for_them(azure: LocalAzure, account: Account) -> None:
    fleet = account.fleet(azure.credential())
    account.fleet().upload_blob("a", b"x")
    assert fleet.get_container_properties().name == "fleet"  # this is an owner's, too
    with refused("AuthorizationPermissionMismatch"):
        fleet.get_blob_client("a").download_blob()
    account.assign(DEPLOYER, READER)
    assert fleet.get_blob_client("a").download_blob().readall() == b"x"
    with refused("AuthorizationPermissionMismatch"):
        fleet.upload_blob("b", b"x")


def test_a_machine_reads_below_its_own_path_alone(azure: LocalAzure, account: Account, machine: Any) -> None:
    path = "@Resource[Microsoft.Storage/storageAccounts/blobServices/containers/blobs:path] StringLike 'one/*'"
    prefix = "@Request[Microsoft.Storage/storageAccounts/blobServices/containers/blobs:prefix] StringLike 'one/*'"
    read = "!(ActionMatches{'Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read'})"
    scope = f"{account.service}/containers/fleet"
    told = {"condition": f"(({read}) OR ({path}) OR ({prefix}))", "conditionVersion": "2.0"}
    account.assign(machine.principal_id, READER, scope, **told)
    for name in ("one/bundle", "two/bundle"):
        account.fleet().upload_blob(name, b"x")
    fleet = account.fleet(as_machine(azure, machine))
    assert fleet.get_blob_client("one/bundle").download_blob().readall() == b"x"
    assert [one.name for one in fleet.list_blobs(name_starts_with="one/")] == ["one/bundle"]
    for wrong in (
        lambda: fleet.get_blob_client("two/bundle").download_blob(),
        lambda: list(fleet.list_blobs()),
        lambda: list(fleet.list_blobs(name_starts_with="two/")),
        lambda: fleet.upload_blob("one/other", b"x"),
    ):
        with refused("AuthorizationPermissionMismatch"):
            wrong()
    azure.put(f"{account.service}/containers/other", {"properties": {}})
    other = account.client(as_machine(azure, machine)).get_container_client("other")
    with refused("AuthorizationPermissionMismatch"):
        other.get_blob_client("one/bundle").download_blob()


def test_a_token_for_another_service_is_none_here(azure: LocalAzure, account: Account) -> None:
    token = azure.credential().get_token("https://management.azure.com/.default").token
    with refused("InvalidAuthenticationInfo"):
        account.fleet(GivenToken(token)).get_blob_client("a").download_blob()


def test_a_signature_is_for_what_it_says(account: Account) -> None:
    fleet = account.fleet()
    for name in ("a", "b"):
        fleet.upload_blob(name, b"x")
    soon, past = datetime.now(UTC) + timedelta(hours=1), datetime.now(UTC) - timedelta(hours=1)
    told = {"account_name": account.name, "container_name": "fleet", "account_key": account.key}
    one = generate_blob_sas(**told, blob_name="a", permission="r", expiry=soon)
    signed = account.client(one).get_container_client("fleet")
    assert signed.get_blob_client("a").download_blob().readall() == b"x"
    with refused("AuthenticationFailed"):
        signed.get_blob_client("b").download_blob()
    with refused("AuthorizationPermissionMismatch"):
        signed.get_blob_client("a").upload_blob(b"y", overwrite=True)
    with refused("AuthenticationFailed"):
        old = generate_blob_sas(**told, blob_name="a", permission="r", expiry=past)
        account.client(old).get_container_client("fleet").get_blob_client("a").download_blob()
    with refused("AuthenticationFailed"):
        more = account.client(one.replace("sp=r", "sp=rw")).get_container_client("fleet")
        more.get_blob_client("a").upload_blob(b"y", overwrite=True)
    whole = generate_container_sas(**told, permission="rl", expiry=soon)
    listed = account.client(whole).get_container_client("fleet").list_blobs()
    assert [blob.name for blob in listed] == ["a", "b"]


def test_a_delegated_signature_lets_do_what_its_maker_may(azure: LocalAzure, account: Account, machine: Any) -> None:
    account.fleet().upload_blob("a", b"x")
    own = account.client(as_machine(azure, machine))
    start, soon = datetime.now(UTC) - timedelta(minutes=1), datetime.now(UTC) + timedelta(hours=1)
    with refused("AuthorizationPermissionMismatch"):
        own.get_user_delegation_key(start, soon)
    account.assign(machine.principal_id, DELEGATOR)
    key = own.get_user_delegation_key(start, soon)
    with refused("InvalidXmlNodeValue"):
        own.get_user_delegation_key(start, soon + timedelta(days=8))
    told = {"account_name": account.name, "container_name": "fleet", "user_delegation_key": key}
    sas = generate_container_sas(**told, permission="rwl", expiry=soon)
    blob = account.client(sas).get_container_client("fleet").get_blob_client("a")
    with refused("AuthorizationPermissionMismatch"):
        blob.download_blob()
    account.assign(machine.principal_id, READER)
    assert blob.download_blob().readall() == b"x"
    with refused("AuthorizationPermissionMismatch"):
        blob.upload_blob(b"y", overwrite=True)


def test_a_container_is_the_same_to_arm_and_to_its_own_service(azure: LocalAzure, account: Account) -> None:
    client = account.client(account.key)
    client.create_container("mine", metadata={"a": "b"})
    there = azure.ask("GET", f"{account.service}/containers/mine").json()
    assert there["properties"]["metadata"] == {"a": "b"}
    with pytest.raises(ResourceExistsError):
        client.create_container("mine")
    with refused("PublicAccessNotPermitted"):
        client.create_container("open", public_access="blob")
    client.delete_container("mine")
    assert azure.ask("GET", f"{account.service}/containers/mine").status_code == 404


def test_all_read_what_is_public_and_no_more(azure: LocalAzure, account: Account) -> None:
    account.change({"allowBlobPublicAccess": True})
    azure.put(f"{account.service}/containers/open", {"properties": {"publicAccess": "Blob"}})
    account.client(account.key).get_container_client("open").upload_blob("keys.json", b"{}")
    account.fleet().upload_blob("a", b"x")
    nobody = account.client()
    assert nobody.get_container_client("open").get_blob_client("keys.json").download_blob().readall() == b"{}"
    with pytest.raises(ResourceNotFoundError):
        nobody.get_container_client("fleet").get_blob_client("a").download_blob()
    with pytest.raises(ResourceNotFoundError):
        list(nobody.get_container_client("open").list_blobs())


@pytest.mark.parametrize(
    "closed",
    [{"networkAcls": {"defaultAction": "Deny"}}, {"publicNetworkAccess": "Disabled"}],
    ids=["deny", "disabled"],
)
def test_a_closed_account_is_open_by_a_private_endpoint_for_blobs_alone(
    account: Account, azure: LocalAzure, place: str, here: Place, closed: Any
) -> None:
    account.fleet().upload_blob("one", b"1")
    other = Account(azure, place)
    source = account.fleet().get_blob_client("one").url
    soon = datetime.now(UTC) + timedelta(hours=1)
    signature = generate_container_sas(account.name, "fleet", account.key, permission="r", expiry=soon)
    account.change(closed)
    account.change({"minimumTlsVersion": "TLS1_2"})  # a write that does not name the firewall leaves it as it was

    def reads() -> None:
        account.fleet().download_blob("one")

    def copies() -> None:
        other.fleet().get_blob_client("copy").start_copy_from_url(f"{source}?{signature}")

    def open_for(group: str, subnet: Any) -> None:
        to = {"name": "it", "properties": {"privateLinkServiceId": account.id, "groupIds": [group]}}
        properties = {"subnet": reference(subnet), "privateLinkServiceConnections": [to]}
        here.make("privateEndpoints", group, properties=properties)

    here.network()
    subnet = here.subnet("10.1.0.0/24")
    open_for("file", subnet)
    for act in (reads, copies):
        with refused("not authorized to perform this operation"):
            act()
    open_for("blob", subnet)
    reads()
    copies()
