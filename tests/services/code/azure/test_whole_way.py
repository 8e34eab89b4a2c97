"""The whole way in Azure: a laptop's token of the team's account, a storage account, and a pod's own identity."""

import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import jwt
import pytest
from azure.mgmt.authorization import AuthorizationManagementClient
from azure.mgmt.msi import ManagedServiceIdentityClient

from components.addons.azure import team_pods, team_roles
from fleet.team_code import folder, tree_key
from fleet.team_storage import subject
from landbridge.access.person import Person
from landbridge.access.team_folder import azure as team_folder
from landbridge.clouds.cloud import Bucket, CloudError
from landbridge.code.folder import Limits, scan
from landbridge.code.known_packs import KnownPacks
from landbridge.code.ship import Shipped, ship
from landbridge.code.team_store import TeamStore
from local.azure.sign_in import TENANT
from services.code.errors import FetchError
from services.code.fetch import fetch
from services.code.source import Source
from services.code.source import place as of_url
from tests.local.azure.conftest import azure, group, place  # noqa: F401
from tests.local.azure.reached import by_name
from tests.local.azure.support import SUBSCRIPTION, LocalAzure
from tests.local.azure.test_identities import AUDIENCE, issuer, key  # noqa: F401

REGION, TEAM = "southcentralus", "research"


@pytest.fixture
def account(azure: LocalAzure, group: str) -> str:  # noqa: F811
    """As region stacks make fleet buckets."""
    name = f"st{uuid.uuid4().hex[:12]}"
    path = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/Microsoft.Storage/storageAccounts/{name}"
    azure.put(path, {"location": REGION, "kind": "StorageV2", "sku": {"name": "Standard_ZRS"}})
    azure.ask("GET", path)
    azure.put(f"{path}/blobServices/default", {"properties": {}})
    azure.put(f"{path}/blobServices/default/containers/fleet", {"properties": {}})
    return name


@pytest.fixture
def token(azure: LocalAzure, group: str, account: str, issuer: str, key: Any) -> Callable[[str], str]:  # noqa: F811
    """By team: a token of its service account, which its own identity takes; all identities have the team's rights."""
    clients: dict[str, str] = {}
    msi, roles = azure.client(ManagedServiceIdentityClient), azure.client(AuthorizationManagementClient)
    prefix = f"/subscriptions/{SUBSCRIPTION}"
    scope = f"{prefix}/resourceGroups/{group}/providers/Microsoft.Storage/storageAccounts/{account}"
    scope = f"{scope}/blobServices/default/containers/fleet"
    for team in (TEAM, "other"):
        pods = msi.user_assigned_identities.create_or_update(group, team, {"location": REGION})
        told = {"issuer": issuer, "subject": subject(team), "audiences": [AUDIENCE]}
        msi.federated_identity_credentials.create_or_update(group, team, "pods", {"properties": told})
        role = f"{prefix}/providers/Microsoft.Authorization/roleDefinitions/{team_roles.CONTRIBUTOR}"
        properties = {
            "roleDefinitionId": role,
            "principalId": pods.principal_id,
            "condition": team_roles.condition(team),
            "conditionVersion": "2.0",
        }
        roles.role_assignments.create(scope, str(uuid.uuid4()), {"properties": properties})
        clients[team] = pods.client_id

    def given(team: str) -> str:
        at = int(time.time())
        claims = {"iss": issuer, "sub": subject(team), "aud": AUDIENCE, "iat": at, "exp": at + 600}
        return jwt.encode(claims, key, algorithm="RS256", headers={"kid": "first"})

    given.clients = clients  # type: ignore[attr-defined]
    return given


@pytest.fixture
def bucket(azure: LocalAzure, monkeypatch: pytest.MonkeyPatch, account: str, token: Any) -> Bucket:  # noqa: F811
    """As bob of the team has it on a laptop."""
    by_name(monkeypatch, azure)
    return bucket_of(TEAM, account, token)


def bucket_of(team: str, account: str, token: Any) -> Bucket:
    def find(kind: str, name: str, where: str) -> Any:
        assert (kind, name, where) == ("configmap", team_pods.IDENTITY, f"--namespace=team-{team}")
        return {"data": {team_pods.CLIENT_ID: token.clients[team]}}

    told = SimpleNamespace(subscription_id=SUBSCRIPTION, tenant_id=TENANT)
    person = SimpleNamespace(
        world=SimpleNamespace(fleet=SimpleNamespace(azure=told)),
        kube=SimpleNamespace(find=find),
        team=team,
        namespace=f"team-{team}",
        token=lambda audience: token(team) if audience == AUDIENCE else "",
    )
    return team_folder.buckets(cast(Person, person), [account])[0]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "experiment"
    (made / "model").mkdir(parents=True)
    (made / "train.py").write_text("print('trained')\n")
    (made / "model/weights.bin").write_bytes(os.urandom(9_000_000))
    return made


def launched(root: Path, bucket: Bucket) -> Shipped:
    cache = root.parent / "cache"
    found = scan(root, Limits(), (), cache)
    return ship(found, TeamStore(bucket, folder(TEAM)), KnownPacks(cache, "account", TEAM))


def pod(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, token: Any, team: str, url: str) -> Path:
    """What a pod of the team has then, by what admission gives it."""
    (tmp_path / "token").write_text(token(team))
    monkeypatch.setenv("AZURE_CLIENT_ID", token.clients[team])
    monkeypatch.setenv("AZURE_TENANT_ID", TENANT)
    monkeypatch.setenv("AZURE_FEDERATED_TOKEN_FILE", str(tmp_path / "token"))
    into = tmp_path / "code"
    fetch(Source(of_url(url)), into)
    return into


def test_a_pod_has_what_the_laptop_had(
    monkeypatch: pytest.MonkeyPatch, bucket: Bucket, token: Any, root: Path, tmp_path: Path
) -> None:
    done = launched(root, bucket)
    url = bucket.where(f"{folder(TEAM)}{tree_key(done.digest)}")
    into = pod(monkeypatch, tmp_path, token, TEAM, url)
    for name in ("train.py", "model/weights.bin"):
        assert (into / name).read_bytes() == (root / name).read_bytes()

    (root / "train.py").write_text("print('better!')\n")
    again = launched(root, bucket)
    assert (again.new_files, again.sent_bytes < 2000) == (1, True)
    into = pod(monkeypatch, tmp_path, token, TEAM, bucket.where(f"{folder(TEAM)}{tree_key(again.digest)}"))
    assert (into / "train.py").read_text() == "print('better!')\n"


def test_another_team_may_neither_send_nor_fetch_it(
    monkeypatch: pytest.MonkeyPatch, bucket: Bucket, account: str, token: Any, root: Path, tmp_path: Path
) -> None:
    done = launched(root, bucket)
    url = bucket.where(f"{folder(TEAM)}{tree_key(done.digest)}")
    with pytest.raises(FetchError, match=r"the team's role may not read https://.*Storage Blob Data Contributor below"):
        pod(monkeypatch, tmp_path, token, "other", url)
    with pytest.raises(CloudError, match="can't be written"):
        bucket_of("other", account, token).put(f"{folder(TEAM)}packs/x", b"x")


def test_what_is_not_there_any_more_is_told(
    monkeypatch: pytest.MonkeyPatch, bucket: Bucket, token: Any, tmp_path: Path
) -> None:
    url = bucket.where(f"{folder(TEAM)}{tree_key('a' * 64)}")
    with pytest.raises(FetchError, match=r"the code https://.* is not there any more: launch the run again"):
        pod(monkeypatch, tmp_path, token, TEAM, url)
    assert not bucket.exists(f"{folder(TEAM)}{tree_key('a' * 64)}")
