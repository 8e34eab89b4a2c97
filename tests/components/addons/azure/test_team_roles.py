"""Teams' identities in Azure: admission on the real API server, and rights as the local Azure judges them."""

from collections.abc import Iterator
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError

from components.addons import pod_tokens
from components.addons.aws import team_pods as aws_team_pods
from components.addons.azure import team_pods as azure_team_pods
from components.addons.azure import team_roles
from components.addons.azure.pod_role import AUDIENCE
from components.addons.azure.team_pods import FOLDER, VOLUME
from components.addons.spec import AddOnsSpec
from fleet import issuers, team_storage
from tests.components.addons import bed
from tests.components.addons.azure import stored
from tests.components.addons.azure.test_addons import SOUTH, spec_of
from tests.components.addons.test_tolerations import until
from tests.local.azure.conftest import azure, group  # noqa: F401
from tests.local.azure.support import LocalAzure
from tests.support.apiserver import Server, server

SPACE, RECORD = "team-research", "team-records/research/main/a"


@pytest.fixture(scope="module")
def main() -> AddOnsSpec:
    return spec_of(bed.both(), "main")


@pytest.fixture(scope="module")
def admitting(tmp_path_factory: pytest.TempPathFactory, main: AddOnsSpec) -> Iterator[Server]:
    """An API server that has the policies of both clouds, and one team."""
    with server(tmp_path_factory.mktemp("identities"), controllers=False) as made:
        apply = bed.Applying(made)
        apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
        apply(pod_tokens.account("research", aws_team_pods.ADDON))
        for one in (*aws_team_pods.injection(main), *azure_team_pods.injection(main)):
            apply(one)
        until(lambda: {VOLUME, aws_team_pods.VOLUME} <= {one["name"] for one in pod(made)["volumes"]}, True)
        yield made


def pod(server: Server, account: str = "storage", **container: Any) -> Any:
    spec = {"serviceAccountName": account, "containers": [{"name": "main", "image": "i", **container}]}
    one = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "p-"}, "spec": spec}
    live = server.api.call("POST", f"/api/v1/namespaces/{SPACE}/pods", {"dryRun": "All"}, one)
    return {"volumes": [], **live["spec"]}


def test_a_pod_finds_its_identity_beside_its_role(admitting: Server, main: AddOnsSpec) -> None:
    found = pod(admitting)
    (container,) = found["containers"]
    env = {one["name"]: one.get("value") or one["valueFrom"] for one in container["env"]}
    assert env.items() >= azure_team_pods.variables(main).items()
    assert env["AZURE_CLIENT_ID"] == {"configMapKeyRef": {"name": "storage-identity", "key": "client-id"}}
    assert "AWS_ROLE_ARN" in env
    assert {"name": VOLUME, "mountPath": FOLDER, "readOnly": True} in container["volumeMounts"]
    (volume,) = [one for one in found["volumes"] if one["name"] == VOLUME]
    token = {"audience": AUDIENCE, "expirationSeconds": 3600, "path": "token"}
    assert volume["projected"]["sources"] == [{"serviceAccountToken": token}]


def test_what_a_container_says_itself_stays_and_others_get_nothing(admitting: Server) -> None:
    (container,) = pod(admitting, env=[{"name": "AZURE_CLIENT_ID", "value": "mine"}])["containers"]
    assert [one for one in container["env"] if one["name"] == "AZURE_CLIENT_ID"] == [
        {"name": "AZURE_CLIENT_ID", "value": "mine"}
    ]
    apply = bed.Applying(admitting)
    apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "plain", "namespace": SPACE}})
    assert VOLUME not in [one["name"] for one in pod(admitting, "plain")["volumes"]]


def test_identities_are_of_one_account_of_one_cluster_and_stand_where_that_is(main: AddOnsSpec) -> None:
    fleet = main.fleet
    for cluster in fleet.clusters:
        assert team_roles.home(fleet, cluster) == SOUTH
        told = team_roles.federation(fleet, cluster, "research")
        assert told["subject"] == team_storage.subject("research")
        assert told["issuer"] == issuers.url(fleet, cluster)
    given = [
        grant.name
        for cluster in fleet.clusters
        for team in fleet.teams
        for grant in team_roles.grants(fleet, cluster, team)
    ]
    assert len(set(given)) == len(given) == 4
    away = {name: pool for name, pool in fleet.pools.items() if pool.region != SOUTH}
    bare = main._replace(fleet=fleet.model_copy(update={"pools": away}))
    assert not azure_team_pods.wanted(bare), "Azure gives no role on what may not be there"


@pytest.fixture
def container(azure: LocalAzure, group: str) -> Any:  # noqa: F811
    """The fleet's, as a team's identity sees it, with blobs of the team's and of others."""
    paths = ("teams/research/a", "teams/other/a", "teams/research-2/a", RECORD, "team-records/other/main/a")
    return stored.container(azure, group, team_roles.condition("research"), paths)


def test_a_team_reads_writes_lists_and_deletes_in_its_own_folder_alone(container: Any) -> None:
    container.upload_blob("teams/research/b", b"2")
    assert container.download_blob("teams/research/a").readall() == b"1"
    assert [one.name for one in container.list_blobs("teams/research/")] == ["teams/research/a", "teams/research/b"]
    container.delete_blob("teams/research/b")
    assert container.download_blob(RECORD).readall() == b"1", "what was recorded of it"
    assert [one.name for one in container.list_blobs("team-records/research/")] == [RECORD]
    for act in (
        lambda: container.upload_blob("teams/other/b", b"2"),
        lambda: container.upload_blob("teams/research-2/b", b"2"),
        lambda: container.download_blob("teams/other/a").readall(),
        lambda: container.delete_blob("teams/research-2/a"),
        lambda: container.upload_blob(RECORD, b"2", overwrite=True),
        lambda: container.delete_blob(RECORD),
        lambda: container.download_blob("team-records/other/main/a").readall(),
        lambda: list(container.list_blobs("team-records/")),
        lambda: list(container.list_blobs("teams/")),
        lambda: list(container.list_blobs()),
    ):
        with pytest.raises(HttpResponseError, match="AuthorizationPermissionMismatch"):
            act()
