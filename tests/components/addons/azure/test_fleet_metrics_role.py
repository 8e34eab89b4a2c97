"""The identity of who reads fleet metrics in Azure: what it is given, and its rights as the local Azure judges them."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pulumi
import pytest
from azure.core.exceptions import HttpResponseError

from components.addons.azure import fleet_metrics_role as role
from components.addons.azure import team_roles
from components.addons.azure.addons import FleetMetricsIdentity
from components.addons.azure.pod_role import AUDIENCE
from fleet import fleet_metrics, issuers
from fleet.azure import ids
from fleet.model import Fleet
from services.fleet_metrics import backups
from services.fleet_metrics.azure.bucket import Bucket
from services.fleet_metrics.azure.tunnels import Region, part
from services.fleet_metrics.errors import CloudError
from services.fleet_metrics.settings import Backup
from tests.components.addons import bed
from tests.components.addons.azure import stored
from tests.components.addons.azure.looking import looking
from tests.components.addons.azure.test_addons import SOUTH
from tests.components.addons.azure.test_autoscaler_role import Mocks
from tests.local.azure.conftest import azure, group, here, place  # noqa: F401
from tests.local.azure.network_support import Place
from tests.local.azure.support import LocalAzure
from tests.local.azure.test_vpn import ends, hub  # noqa: F401

CLUSTER = "south"
NOW = datetime(2026, 11, 30, 12, 10, tzinfo=UTC).timestamp()
OWN = "backups/south/main/2026-11-30T120000Z-7.db"
OTHERS = ("backups/main/main/2026-11-30T120000Z-7.db", "records/south/a", "teams/research/a")


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return bed.both().fleet


def made_for(fleet: Fleet, cluster: str) -> Mocks:
    mocks, found = Mocks(), list[Any]()

    async def program() -> None:
        pulumi.runtime.set_mocks(mocks, project="landbridge", stack="addons")
        made = FleetMetricsIdentity("fleet-metrics-azure", {"fleet": fleet, "cluster": cluster})
        found.append(await made.client_id.future())
        await pulumi.runtime.stack.wait_for_rpcs()

    asyncio.run(program())
    assert found == ["the client"]
    return mocks


def given(mocks: Mocks) -> dict[str, dict[str, Any]]:
    """By their scopes."""
    return {one["scope"]: one for (kind, _), one in mocks.made.items() if kind == "RoleAssignment"}


def test_at_home_in_azure_it_lists_snapshots_and_takes_tokens_of_its_own_account_alone(fleet: Fleet) -> None:
    mocks = made_for(fleet, CLUSTER)
    trusted = mocks.made["FederatedIdentityCredential", "fleet-metrics"]
    assert trusted["subject"] == "system:serviceaccount:kube-system:fleet-metrics"
    assert (trusted["issuer"], trusted["audiences"]) == (issuers.url(fleet, CLUSTER), [AUDIENCE])
    # South has no nodes at the site: of tunnels between the clouds AWS tells.
    assert given(mocks).keys() == {team_roles.container(fleet, SOUTH)}
    (lists,) = given(mocks).values()
    assert lists["roleDefinitionId"] == ids.role(fleet, ids.BLOB_READER)
    assert lists["condition"] == fleet_metrics.condition("backups/south/")


def test_copies_in_a_second_region_are_listed_there(fleet: Fleet) -> None:
    south = fleet.clusters[CLUSTER].model_copy(update={"copies": "westeurope"})
    regions = {**fleet.regions, "westeurope": fleet.regions[SOUTH]}
    fleet = fleet.model_copy(update={"clusters": {**fleet.clusters, CLUSTER: south}, "regions": regions})
    home, copy = role.lists(fleet, CLUSTER)
    assert (home.scope, copy.scope) == (team_roles.container(fleet, SOUTH), team_roles.container(fleet, "westeurope"))
    assert copy.condition == fleet_metrics.condition("copies/southcentralus/south/")
    assert home.name != copy.name


def test_at_home_elsewhere_it_sees_connections_of_its_regions_and_nothing_else(fleet: Fleet) -> None:
    mocks = made_for(fleet, "main")
    (looks,) = given(mocks).values()
    assert looks["scope"] == role.group(fleet, SOUTH)
    (definition,) = [one for (kind, _), one in mocks.made.items() if kind == "RoleDefinition"]
    assert definition["permissions"] == [{"actions": ["Microsoft.Network/connections/read"], "notActions": []}]
    assert looks["roleDefinitionId"].endswith(definition["roleDefinitionId"])
    assert role.role_id(fleet, "main") != role.role_id(fleet, CLUSTER)


def test_without_anything_in_azure_it_is_nobody_there() -> None:
    assert not role.wanted(bed.in_aws(bed.spec()).fleet, "main")


@pytest.fixture
def container(azure: LocalAzure, group: str) -> Any:  # noqa: F811
    condition = fleet_metrics.condition("backups/south/")
    return stored.container(azure, group, condition, (OWN, *OTHERS), ids.BLOB_READER)


def refused(act: Callable[[], Any]) -> None:
    with pytest.raises(HttpResponseError, match="AuthorizationPermissionMismatch"):
        act()


def test_it_tells_the_age_of_snapshots_and_reads_and_changes_none(container: Any) -> None:
    bucket = Bucket("account", SOUTH, container)
    mine = [Backup(ring, "home", SOUTH, "", f"backups/south/{ring}/", 1) for ring in ("main", "events")]
    taken = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()
    assert backups.ages(bucket.listed, mine, NOW) == {("main", "home", SOUTH): taken}
    refused(lambda: container.download_blob(OWN).readall())
    refused(lambda: container.upload_blob(OWN, b"2", overwrite=True))
    refused(lambda: container.delete_blob(OWN))
    for prefix in ("", "backups/", "backups/south", "backups/main/", "records/south/", "teams/"):
        refused(partial(_listed, container, prefix))
    with pytest.raises(CloudError, match=r"List Blobs https://account\..*/fleet/teams/: .*not authorized"):
        bucket.listed("teams/")


def _listed(container: Any, prefix: str) -> list[str]:
    return list(container.list_blob_names(name_starts_with=prefix))


def test_it_is_told_which_part_of_a_connection_s_tunnels_is_up(
    azure: LocalAzure,  # noqa: F811
    group: str,  # noqa: F811
    here: Place,  # noqa: F811
    ends: Any,  # noqa: F811
) -> None:
    made = here.make("connections", "tunnel", properties=ends)
    one, two = (here.get("publicIPAddresses", name)["properties"]["ipAddress"] for name in ("one", "two"))
    client = looking(azure, group, *role.LOOKS, scope=here.id)
    region, missing = Region(SOUTH, client), here.path("connections", "none")
    assert region.up([made["id"], missing], NOW) == {made["id"]: 0.0, missing: 0.0}
    azure.own("tunnels", [made["id"], {one: "Connected"}])
    assert region.up([made["id"]], NOW) == {made["id"]: 0.5}
    azure.own("tunnels", [made["id"], {one: "Connected", two: "Connected"}])
    assert region.up([made["id"]], NOW) == {made["id"]: 1.0}
    key = client.send_request(_key(made["id"]))
    assert key.status_code == 403, "its keys are another right"
    other = Region(SOUTH, looking(azure, group, "Microsoft.Compute/virtualMachines/read"))
    with pytest.raises(CloudError, match=f"{SOUTH}: .*AuthorizationFailed"):
        other.up([made["id"]], NOW)


def _key(connection: str) -> Any:
    from azure.core.rest import HttpRequest

    address = f"https://management.azure.com{connection}/sharedkey"
    return HttpRequest("GET", address, params={"api-version": "2024-05-01"})


def test_where_azure_tells_nothing_of_tunnels_the_connection_s_own_state_counts() -> None:
    assert part({"connectionStatus": "Connected"}) == 1.0
    assert part({"connectionStatus": "Connecting", "tunnelConnectionStatus": None}) == 0.0
    assert part({"connectionStatus": "Unknown"}) is None
    assert part({}) is None
