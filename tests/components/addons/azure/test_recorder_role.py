"""The recorder's identity in Azure: what it is given and by whose tokens, and its rights as the local Azure judges them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from azure.core.exceptions import HttpResponseError

from components.addons.azure import recorder_role, team_roles
from components.addons.azure.addons import RecorderIdentity
from components.addons.azure.pod_role import AUDIENCE
from fleet import issuers
from fleet.world import World
from services.recorder.azure.store import Bucket
from tests.components.addons import bed
from tests.components.addons.azure import stored
from tests.components.addons.azure.test_addons import SOUTH
from tests.components.addons.azure.test_autoscaler_role import Mocks
from tests.local.azure.conftest import azure, group  # noqa: F401
from tests.local.azure.support import LocalAzure
from tests.services.recorder import stores

CLUSTER = "south"
OWN = ("records/south/2026-11-29/a", "team-records/research/south/2026-11-29/a")
AUDIT = "audit/south/south-api-1/a"
OTHERS = (
    "records/main/a",
    "records/south-2/a",
    "team-records/research/main/a",
    "audit/main/a",
    "teams/research/a",
    "both/south/a",
    "backups/south/a",
)


@pytest.fixture(scope="module")
def world() -> World:
    return bed.both()


def test_it_is_given_the_home_s_container_and_takes_tokens_of_its_own_account_alone(world: World) -> None:
    mocks, found = Mocks(), list[Any]()

    async def program() -> None:
        pulumi.runtime.set_mocks(mocks, project="landbridge", stack="addons")
        made = RecorderIdentity("recorder-azure", {"fleet": world.fleet, "cluster": CLUSTER})
        found.append(await made.client_id.future())
        await pulumi.runtime.stack.wait_for_rpcs()

    asyncio.run(program())
    assert found == ["the client"]
    identity = mocks.made["UserAssignedIdentity", "recorder"]
    assert (identity["resourceName"], identity["resourceGroupName"]) == (
        "both-south-addons-recorder",
        f"both-{SOUTH}",
    )
    trusted = mocks.made["FederatedIdentityCredential", "recorder"]
    assert trusted["subject"] == "system:serviceaccount:kube-system:recorder"
    assert (trusted["issuer"], trusted["audiences"]) == (issuers.url(world.fleet, CLUSTER), [AUDIENCE])
    (given,) = [one for (kind, _), one in mocks.made.items() if kind == "RoleAssignment"]
    assert given["scope"] == team_roles.container(world.fleet, SOUTH)
    assert given["condition"] == recorder_role.condition(CLUSTER)
    theirs = {
        grant.name
        for cluster in world.fleet.clusters
        for team in world.fleet.teams
        for grant in team_roles.grants(world.fleet, cluster, team)
    }
    assert given["roleAssignmentName"] not in theirs


@pytest.fixture
def container(azure: LocalAzure, group: str) -> Any:  # noqa: F811
    return stored.container(azure, group, recorder_role.condition(CLUSTER), (*OWN, AUDIT, *OTHERS))


def refused(act: Callable[[], Any]) -> None:
    with pytest.raises(HttpResponseError, match="AuthorizationPermissionMismatch"):
        act()


def test_its_program_s_own_calls_are_taken(container: Any) -> None:
    stores.keeps(Bucket("account", container), "team-records/research/south/", "teams/research/")


def test_it_keeps_the_records_of_its_cluster_and_reads_its_audit_log_and_nothing_else(container: Any) -> None:
    for path in OWN:
        assert container.download_blob(path).readall() == b"1"
        container.upload_blob(f"{path}-2", b"2")
        folder = path.rpartition("/")[0] + "/"
        assert [one.name for one in container.list_blobs(folder)] == [path, f"{path}-2"]
        container.delete_blob(f"{path}-2")
    assert container.download_blob(AUDIT).readall() == b"1"
    assert [one.name for one in container.list_blobs("audit/south/")] == [AUDIT]
    refused(lambda: container.upload_blob(AUDIT, b"2", overwrite=True))
    refused(lambda: container.upload_blob(f"{AUDIT}-2", b"2"))
    refused(lambda: container.delete_blob(AUDIT))
    for path in OTHERS:
        refused(lambda path=path: container.download_blob(path).readall())
        refused(lambda path=path: container.upload_blob(path, b"2", overwrite=True))
        refused(lambda path=path: container.upload_blob(f"{path}-2", b"2"))
        refused(lambda path=path: container.delete_blob(path))
    for prefix in ("", "records/", "team-records/", "team-records/research/", "audit/", "teams/research/"):
        refused(lambda prefix=prefix: list(container.list_blobs(prefix)))
