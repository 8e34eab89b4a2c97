"""The recorder's identity in Azure: what it is given and by whose tokens, and its rights as the local Azure judges them."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pulumi
import pytest
from azure.core.exceptions import HttpResponseError
from azure.mgmt.compute import ComputeManagementClient

from components.addons.azure import recorder_role, team_roles
from components.addons.azure.addons import RecorderIdentity
from components.addons.azure.pod_role import AUDIENCE
from fleet import issuers
from fleet.azure.ids import subscription
from fleet.model import Fleet
from fleet.world import World
from local.azure import tokens
from services.recorder.azure.machines import Group
from services.recorder.azure.store import Bucket
from services.recorder.errors import CloudError
from tests.components.addons import bed
from tests.components.addons.azure import stored
from tests.components.addons.azure.looking import looking
from tests.components.addons.azure.test_addons import SOUTH
from tests.components.addons.azure.test_autoscaler_role import Mocks
from tests.local.azure.conftest import azure, group  # noqa: F401
from tests.local.azure.machines import Pools
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


def made_for(fleet: Fleet, cluster: str) -> Mocks:
    mocks, found = Mocks(), list[Any]()

    async def program() -> None:
        pulumi.runtime.set_mocks(mocks, project="landbridge", stack="addons")
        made = RecorderIdentity("recorder-azure", {"fleet": fleet, "cluster": cluster})
        found.append(await made.client_id.future())
        await pulumi.runtime.stack.wait_for_rpcs()

    asyncio.run(program())
    assert found == ["the client"]
    return mocks


def given(mocks: Mocks) -> dict[str, dict[str, Any]]:
    """By their scopes."""
    return {one["scope"]: one for (kind, _), one in mocks.made.items() if kind == "RoleAssignment"}


def test_it_is_given_the_home_s_container_and_takes_tokens_of_its_own_account_alone(world: World) -> None:
    mocks = made_for(world.fleet, CLUSTER)
    identity = mocks.made["UserAssignedIdentity", "recorder"]
    assert (identity["resourceName"], identity["resourceGroupName"]) == (
        "both-south-addons-recorder",
        f"both-{SOUTH}",
    )
    trusted = mocks.made["FederatedIdentityCredential", "recorder"]
    assert trusted["subject"] == "system:serviceaccount:kube-system:recorder"
    assert (trusted["issuer"], trusted["audiences"]) == (issuers.url(world.fleet, CLUSTER), [AUDIENCE])
    found = given(mocks)
    assert found.keys() == {team_roles.container(world.fleet, SOUTH), subscription(world.fleet)}
    writes = found[team_roles.container(world.fleet, SOUTH)]
    assert writes["condition"] == recorder_role.condition(CLUSTER)
    theirs = {
        grant.name
        for cluster in world.fleet.clusters
        for team in world.fleet.teams
        for grant in team_roles.grants(world.fleet, cluster, team)
    }
    assert writes["roleAssignmentName"] not in theirs


def test_at_home_elsewhere_it_looks_at_what_became_of_machines_and_writes_nothing(world: World) -> None:
    mocks = made_for(world.fleet, "main")
    (looks,) = given(mocks).values()
    assert looks["scope"] == subscription(world.fleet)
    (definition,) = [one for (kind, _), one in mocks.made.items() if kind == "RoleDefinition"]
    assert definition["permissions"] == [{"actions": recorder_role.LOOKS, "notActions": []}]
    assert looks["roleDefinitionId"].endswith(definition["roleDefinitionId"])
    assert mocks.made["UserAssignedIdentity", "recorder"]["location"] == SOUTH
    assert recorder_role.role_id(world.fleet, "main") != recorder_role.role_id(world.fleet, CLUSTER)


def test_without_machines_in_azure_it_is_nobody_there() -> None:
    assert not recorder_role.wanted(bed.in_aws(bed.spec()).fleet, "main")


def test_its_right_is_enough_to_tell_who_ended_a_machine(azure: LocalAzure, group: str) -> None:  # noqa: F811
    pools = Pools(azure, azure.client(ComputeManagementClient), group)
    pools.put(3)
    ids = {f"{pools.path}/virtualMachines/{n}": f"gpu-{n}" for n in range(3)}
    asked = Group(pools.place, looking(azure, group, *recorder_role.LOOKS))
    now = datetime.now(UTC).timestamp()
    assert asked.ask(ids, now) == ([], set())
    azure.ask("DELETE", f"{pools.path}/virtualMachines/1")
    pools.delete("2")
    seen, done = asked.ask(ids, now)
    assert done == {f"{pools.path}/virtualMachines/{n}" for n in (1, 2)}
    assert {one.about for one in seen} == {"node/gpu-1", "node/gpu-2"}
    assert all(one.text.endswith(f" by {tokens.DEPLOYER}") for one in seen)
    other = Group(pools.place, looking(azure, group, "Microsoft.Compute/virtualMachines/read"))
    with pytest.raises(CloudError, match=f"{group}: .*AuthorizationFailed"):
        other.ask(ids, now)


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
