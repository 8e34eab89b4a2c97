"""The identity of who reads fleet metrics in Azure: what it is given, and its rights as the local Azure judges them."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pulumi
import pytest
from azure.core.exceptions import HttpResponseError
from azure.core.rest import HttpRequest

from components.addons.azure import fleet_metrics_role as role
from components.addons.azure import team_roles
from components.addons.azure.addons import FleetMetricsIdentity
from components.addons.azure.pod_role import AUDIENCE
from fleet import fleet_metrics, issuers
from fleet.azure import ids
from fleet.model import Fleet
from landbridge.drill import tested
from landbridge.status import left
from services.fleet_metrics import backups, drift
from services.fleet_metrics.azure.bgp import Region as Bgp
from services.fleet_metrics.azure.bucket import Bucket
from services.fleet_metrics.azure.images import Region as Images
from services.fleet_metrics.azure.quotas import Region as Quotas
from services.fleet_metrics.azure.shares import Region as Shares
from services.fleet_metrics.azure.tunnels import Region, part
from services.fleet_metrics.errors import CloudError
from services.fleet_metrics.metrics import Look, Room
from services.fleet_metrics.settings import Backup, Drift, Restores
from tests.components.addons import bed
from tests.components.addons.azure import stored
from tests.components.addons.azure.looking import looking
from tests.components.addons.azure.test_addons import SOUTH
from tests.components.addons.azure.test_autoscaler_role import Mocks
from tests.local.azure.conftest import azure, compute, group, here, place  # noqa: F401
from tests.local.azure.machines import scale_set, subnet
from tests.local.azure.network_support import Place
from tests.local.azure.support import SUBSCRIPTION, LocalAzure
from tests.local.azure.test_galleries import Images as Gallery
from tests.local.azure.test_storage import FILES, a_name
from tests.local.azure.test_vpn import SITE, ends, hub  # noqa: F401

CLUSTER = "south"
PREFIXES = ("backups/south/", "restores/south/", "drift/south/")
NOW = datetime(2026, 11, 30, 12, 10, tzinfo=UTC).timestamp()
DEFINED, ASSIGNED = "RoleDefinition", "RoleAssignment"
OWN = "backups/south/main/2026-11-30T120000Z-7.db"
DRILL = tested.key("south", 7, datetime(2026, 11, 30, 12, tzinfo=UTC))
LOOK = left.key("south", "links", 3, datetime(2026, 11, 30, 12, tzinfo=UTC))
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
    places = {team_roles.container(fleet, SOUTH), role.group(fleet, SOUTH), ids.subscription(fleet)}
    places |= {role.shares(fleet, SOUTH)}
    assert given(mocks).keys() == places
    lists = given(mocks)[team_roles.container(fleet, SOUTH)]
    assert lists["roleDefinitionId"] == ids.role(fleet, ids.BLOB_READER)
    assert lists["condition"] == fleet_metrics.condition(*PREFIXES)


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
    made = {name: [one for (kind, _), one in mocks.made.items() if kind == name] for name in (DEFINED, ASSIGNED)}
    roles = {one["roleDefinitionId"]: one["permissions"][0]["actions"] for one in made[DEFINED]}
    kinds = {id_: kind for kind, actions in role.ROLES.items() for id_, may in roles.items() if may == actions}
    assert {(kinds[one["roleDefinitionId"].rpartition("/")[2]], one["scope"]) for one in made[ASSIGNED]} == {
        (role.LINKS, role.group(fleet, SOUTH)),
        (role.BGP, role.gateway(fleet, SOUTH)),
        (role.POOLS, role.group(fleet, SOUTH)),
        (role.QUOTAS, ids.subscription(fleet)),
        (role.FILES, role.shares(fleet, SOUTH)),
    }
    assert all(action.endswith("/read") for actions in role.ROLES.values() for action in actions)
    assert role.role_id(fleet, "main") != role.role_id(fleet, CLUSTER)


def test_without_anything_in_azure_it_is_nobody_there() -> None:
    assert not role.wanted(bed.in_aws(bed.spec()).fleet, "main")


@pytest.fixture
def container(azure: LocalAzure, group: str) -> Any:  # noqa: F811
    condition = fleet_metrics.condition(*PREFIXES)
    return stored.container(azure, group, condition, (OWN, DRILL, LOOK, *OTHERS), ids.BLOB_READER)


def refused(act: Callable[[], Any]) -> None:
    with pytest.raises(HttpResponseError, match="AuthorizationPermissionMismatch"):
        act()


def test_it_tells_the_age_of_snapshots_and_reads_and_changes_none(container: Any) -> None:
    bucket = Bucket("account", SOUTH, container)
    mine = [Backup(ring, "home", SOUTH, "", f"backups/south/{ring}/", 1) for ring in ("main", "events")]
    taken = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()
    assert backups.ages(bucket.listed, mine, NOW) == {("main", "home", SOUTH): taken}
    restores = [Restores("main", SOUTH, "", "restores/south/main/", 1)]
    assert backups.restored(bucket.listed, restores, NOW) == {("main", SOUTH): taken}
    looked = drift.looks(bucket.listed, Drift(SOUTH, "", "drift/south/"))
    assert looked == {("links",): Look(taken, 3)}
    for kept in (DRILL, LOOK, OWN):
        refused(partial(_read, container, kept))
    refused(lambda: container.upload_blob(OWN, b"2", overwrite=True))
    refused(lambda: container.delete_blob(OWN))
    for prefix in (
        "",
        "backups/",
        "backups/south",
        "backups/main/",
        "records/south/",
        "restores/",
        "drift/",
        "drift/main/",
        "teams/",
    ):
        refused(partial(_listed, container, prefix))
    with pytest.raises(CloudError, match=r"List Blobs https://account\..*/fleet/teams/: .*not authorized"):
        bucket.listed("teams/")


def _read(container: Any, name: str) -> bytes:
    return bytes(container.download_blob(name).readall())


def _listed(container: Any, prefix: str) -> list[str]:
    return list(container.list_blob_names(name_starts_with=prefix))


def connected(here: Place, ends: Any) -> tuple[dict[str, Any], str, str]:  # noqa: F811
    """A connection, and the addresses of the gateway's two instances."""
    one, two = (here.get("publicIPAddresses", name)["properties"]["ipAddress"] for name in ("one", "two"))
    return here.make("connections", "tunnel", properties=ends), one, two


def test_it_is_told_which_part_of_a_connection_s_tunnels_is_up(
    azure: LocalAzure,  # noqa: F811
    group: str,  # noqa: F811
    here: Place,  # noqa: F811
    ends: Any,  # noqa: F811
) -> None:
    made, one, two = connected(here, ends)
    client = looking(azure, group, *role.ROLES[role.LINKS], scope=here.id)
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


def test_it_is_told_which_part_of_a_gateway_s_instances_speaks_bgp(
    azure: LocalAzure,  # noqa: F811
    group: str,  # noqa: F811
    here: Place,  # noqa: F811
    ends: Any,  # noqa: F811
) -> None:
    made, one, two = connected(here, ends)
    hub, peer = here.path("virtualNetworkGateways", "hub"), SITE["bgpSettings"]["bgpPeeringAddress"]  # noqa: F811
    client = looking(azure, group, *role.ROLES[role.BGP], scope=hub)
    region, asked = Bgp(SOUTH, client), [(hub, peer), (hub, "169.254.21.9")]
    for states, part_of in (
        ({}, 0.0),
        ({one: "Connected"}, 0.5),
        ({one: "Connected", two: "Silent"}, 0.5),
        ({one: "Connected", two: "Connected"}, 1.0),
    ):
        azure.own("tunnels", [made["id"], states])
        assert region.speak(asked, time.time()) == {(hub, peer): part_of}, "of who is no peer nothing is told"
    gone = here.path("virtualNetworkGateways", "none")
    wide = Bgp(SOUTH, looking(azure, group, *role.ROLES[role.BGP]))
    assert wide.speak([(gone, peer)], time.time()) == {}
    gateway = HttpRequest("GET", f"https://management.azure.com{hub}", params={"api-version": "2024-05-01"})
    assert client.send_request(gateway).status_code == 403, "what it is is another right"
    other = Bgp(SOUTH, looking(azure, group, *role.ROLES[role.LINKS], scope=hub))
    with pytest.raises(CloudError, match=f"{SOUTH}: .*AuthorizationFailed"):
        other.speak(asked, time.time())


def _key(connection: str) -> Any:
    address = f"https://management.azure.com{connection}/sharedkey"
    return HttpRequest("GET", address, params={"api-version": "2024-05-01"})


def test_it_is_told_what_was_granted_of_quotas_and_what_is_used(azure: LocalAzure, group: str, fleet: Fleet) -> None:  # noqa: F811
    usages = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/locations/{SOUTH}/usages"
    named = [f"{usages}/{name}" for name in ("standardNDSH100v5Family", "cores", "lowPriorityCores", "noFamily")]
    region = Quotas(SOUTH, looking(azure, group, *role.ROLES[role.QUOTAS]))
    azure.own("quotas", {SOUTH: {"standardNDSH100v5Family": 96, "lowPriorityCores": 0}})
    found = region.told(named, NOW)
    assert found[named[0]] == (96.0, 0.0)
    assert found[named[2]].most == 0.0
    assert found.keys() == {*named[:3]}, "what Azure does not list is not told"
    azure.own("quotas", {})
    with pytest.raises(CloudError, match=f"{SOUTH}: .*AuthorizationFailed"):
        Quotas(SOUTH, looking(azure, group, *role.ROLES[role.LINKS])).told(named, NOW)


def test_it_is_told_when_images_were_made_that_machines_start_from(
    azure: LocalAzure,  # noqa: F811
    group: str,  # noqa: F811
    place: str,  # noqa: F811
    compute: Any,  # noqa: F811
) -> None:
    gallery = Gallery(azure, compute, place)
    version, begun = gallery.put("1.0.0").id, datetime.now(UTC).timestamp()
    body = scale_set(subnet(azure, place), 0)
    body["properties"]["virtualMachineProfile"]["storageProfile"]["imageReference"] = {"id": version}
    named = [f"{place}/providers/{role.SETS}/{name}" for name in ("gpu", "none")]
    assert azure.put(named[0], body).status_code == 201
    may = (*role.ROLES[role.QUOTAS], *role.ROLES[role.POOLS])
    ((one, created),) = Images(SOUTH, looking(azure, group, *may)).created(named).items()
    assert one == named[0]
    assert abs(created - begun) < 60
    for missing in may[1:]:
        other = looking(azure, group, *(action for action in may if action != missing))
        with pytest.raises(CloudError, match=f"{SOUTH}: .*AuthorizationFailed"):
            Images(SOUTH, other).created(named)


def test_it_is_told_what_a_share_holds_and_may_hold(azure: LocalAzure, group: str, place: str) -> None:  # noqa: F811
    account = f"{place}/providers/Microsoft.Storage/storageAccounts/{a_name()}"
    assert azure.put(account, FILES).status_code in (200, 201, 202)
    id_ = f"{account}/fileServices/default/shares/data"
    assert azure.put(id_, {"properties": {"enabledProtocols": "NFS", "shareQuota": 100}}).status_code == 201
    region = Shares(SOUTH, looking(azure, group, *role.ROLES[role.FILES], scope=account))
    most = 100.0 * 2**30
    assert region.room([id_, f"{id_}-none"], NOW) == {id_: Room(0.0, most)}
    azure.own("used", [id_, 90 * 2**30])
    assert region.room([id_], NOW) == {id_: Room(90.0 * 2**30, most)}
    with pytest.raises(CloudError, match=f"{SOUTH}: .*AuthorizationFailed"):
        Shares(SOUTH, looking(azure, group, *role.ROLES[role.LINKS])).room([id_], NOW)


def test_where_azure_tells_nothing_of_tunnels_the_connection_s_own_state_counts() -> None:
    assert part({"connectionStatus": "Connected"}) == 1.0
    assert part({"connectionStatus": "Connecting", "tunnelConnectionStatus": None}) == 0.0
    assert part({"connectionStatus": "Unknown"}) is None
    assert part({}) is None
