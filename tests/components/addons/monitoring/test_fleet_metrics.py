"""The pod that asks clouds: what it is told follows from the fleet, it has no way to the API, and its program runs."""

import json
import signal
import subprocess
import sys
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from components.addons import addons, recorder
from components.addons.azure import fleet_metrics_role as azure_role
from components.addons.azure import pod_role as azure_pod_role
from components.addons.monitoring import fleet_metrics, targets
from components.addons.spec import AddOnsSpec, addons_spec
from components.addons.system_pods import NARROW
from components.control_plane import backups
from components.control_plane.rings import RINGS
from components.links import plan
from components.links.aws.cross_cloud import cross_cloud_connections
from components.links.azure.connections import other_ends
from components.links.connections import connections
from components.pools import labels
from components.pools.names import Names
from components.storage.aws import bucket as aws_bucket
from components.storage.azure.spec import lifecycle as azure_lifecycle
from components.storage.places import BACKUPS, COPIES
from components.tags import Owner
from fleet import autoscaler, quotas
from fleet import fleet_metrics as of_fleet
from fleet.buckets import bucket_name
from fleet.image_names import RESOLVE, of_pool
from fleet.world import World, current
from landbridge.drill import tested
from landbridge.etcd.snapshot_age import GRACE
from landbridge.status import left
from services.fleet_metrics import settings
from services.fleet_metrics.sources import KEPT_SECONDS
from stacks import catalogue
from tests.components.addons import bed
from tests.support.apiserver import free_port
from tests.support.waiting import eventually

SOUTH = "southcentralus"


@pytest.fixture(scope="module")
def world() -> World:
    return bed.both()


def spec_of(world: World, cluster: str) -> AddOnsSpec:
    return addons_spec(bed.measured(world.fleet), world.plan, cluster)


def told(of: AddOnsSpec) -> dict[str, Any]:
    data = bed.named(fleet_metrics.manifests(of), "ConfigMap", fleet_metrics.SETTINGS)["data"]
    return dict(json.loads(data["settings.json"]))


def test_snapshots_are_looked_for_where_machines_put_them(example: AddOnsSpec, world: World) -> None:
    found = told(example)["backups"]
    assert [one["folder"] for one in found] == [
        *(f"{backups.place('main', ring)}/" for ring in RINGS),
        *(f"{backups.copies_place('us-west-2', 'main')}/{ring.name}/" for ring in RINGS),
    ]
    assert {one["into"] for one in found if one["where"] == of_fleet.COPY} == {"s3://example-us-east-1-123456789012"}
    assert {one["region"] for one in found if one["where"] == of_fleet.COPY} == {example.fleet.clusters["main"].copies}
    for of, place in ((of_fleet.HOME, BACKUPS), (of_fleet.COPY, COPIES)):
        assert {one["folder"].partition("/")[0] for one in found if one["where"] == of} == {place}
    (south, _) = told(spec_of(world, "south"))["backups"]
    assert south["into"] == f"https://{bucket_name(world.fleet, SOUTH)}.blob.core.windows.net/fleet"


def test_one_that_is_due_is_not_late_for_the_time_between_two_readings(example: AddOnsSpec) -> None:
    due = {one["ring"]: one["due_seconds"] for one in told(example)["backups"]}
    for ring in RINGS:
        assert due[ring.name] == ring.backup_minutes * 60 + GRACE.total_seconds() + 60 * fleet_metrics.READ_MINUTES
    # What is kept of a bucket that is away is forgotten before it fires: the alarm waits for ten minutes more.
    assert GRACE.total_seconds() + 600 > KEPT_SECONDS
    assert KEPT_SECONDS > 2 * 60 * fleet_metrics.READ_MINUTES, "one answer that is lost is no silence"


def test_restores_are_looked_for_where_drills_tell_of_them_and_nothing_removes_that_early(
    example: AddOnsSpec, world: World
) -> None:
    (main,) = told(example)["restores"]
    assert tested.key("main", 1, datetime.now(UTC)).startswith(main["folder"])
    assert (main["ring"], main["into"], main["due_seconds"]) == (
        tested.RING,
        "s3://example-us-west-2-123456789012",
        90 * 24 * 3600,
    )
    for rules in (aws_bucket.lifecycle(example.fleet), azure_lifecycle(world.fleet)):
        assert "backups" in json.dumps(rules)
        assert "restores" not in json.dumps(rules)
    (south,) = told(spec_of(world, "south"))["restores"]
    assert south["into"] == f"https://{bucket_name(world.fleet, SOUTH)}.blob.core.windows.net/fleet"


def test_looks_at_drift_are_looked_for_where_they_are_left_and_nothing_else_removes_them(
    example: AddOnsSpec, world: World
) -> None:
    (main,) = told(example)["drift"]
    assert left.key("main", "links", 1, datetime.now(UTC)).startswith(main["folder"])
    assert main["into"] == "s3://example-us-west-2-123456789012"
    for rules in (aws_bucket.lifecycle(example.fleet), azure_lifecycle(world.fleet)):
        assert "drift" not in json.dumps(rules)
    (south,) = told(spec_of(world, "south"))["drift"]
    assert south["into"] == f"https://{bucket_name(world.fleet, SOUTH)}.blob.core.windows.net/fleet"


def test_connections_are_those_of_the_links_stack_between_the_cluster_s_places(world: World) -> None:
    fleet, owner = world.fleet, Owner(world.fleet.fleet, "", catalogue.LINKS)
    assert fleet_metrics.LINKS == catalogue.LINKS
    made = {one.name for cloud in ("aws", "azure") for one in connections(fleet, world.plan, cloud)}
    made |= {one.name for one in cross_cloud_connections(fleet, world.plan)}
    found = {one["connection"]: one for one in told(spec_of(world, "main"))["connections"]}
    assert found.keys() == made, "it has nodes in all places"
    for name, one in found.items():
        if one["region"] == SOUTH:
            assert one["named"].endswith(
                f"/both-{SOUTH}/providers/Microsoft.Network/connections/{owner.name(name, 80)}"
            )
        else:
            assert one["named"] == owner.tags(name)["Name"]
    assert {one["link"] for one in found.values()} == {
        *(f"{one.site}/{one.region}" for one in plan.tunnels(fleet, world.plan)),
        *(f"{one.azure}/{one.aws}" for one in plan.crossings(fleet, world.plan)),
    }
    assert {one["place"] for one in found.values()} == {"lab", SOUTH}, "its home is where it asks from"
    south = told(spec_of(world, "south"))["connections"]
    assert {(one["link"], one["place"]) for one in south} == {(f"{SOUTH}/us-west-2", "us-west-2")}
    assert told(bed.in_aws(bed.spec(cluster="main")))["connections"], "sites are linked with one cloud, too"


def test_peers_are_the_sites_addresses_in_azure_s_connections(world: World) -> None:
    found = told(spec_of(world, "main"))["peers"]
    ends = {one.name: one.bgp_address for one in other_ends(world.fleet, world.plan, SOUTH) if one.site}
    assert {one["connection"]: one["peer"] for one in found} == ends
    assert ends
    hub = Owner(world.fleet.fleet, world.fleet.owner, SOUTH).name("hub", 80)
    assert {one["named"].rpartition("/providers/")[2] for one in found} == {
        f"Microsoft.Network/virtualNetworkGateways/{hub}"
    }
    assert {(one["link"], one["place"], one["region"]) for one in found} == {(f"lab/{SOUTH}", "lab", SOUTH)}
    assert told(spec_of(world, "south"))["peers"] == [], "it has no nodes at the site"
    assert told(bed.in_aws(bed.spec(cluster="main")))["peers"] == []


def test_quotas_are_those_that_its_pools_count_in_with_what_all_pools_of_the_region_may_use(world: World) -> None:
    found = {(one["region"], one["quota"]): one for one in told(spec_of(world, "south"))["quotas"]}
    pools = world.fleet.pools
    assert found.keys() == {
        ("us-west-2", "p"),
        (SOUTH, "cores"),
        (SOUTH, "standardNDSH100v5Family"),
        (SOUTH, "standardDSv5Family"),
    }, "system machines in us-west-2 are another cluster's"
    west = found["us-west-2", "p"]
    assert west["named"] == quotas.QUOTAS["p"].code
    assert west["planned_vcpus"] == 192 * (pools["own-west"].max + pools["west-gpu"].max), "the account has one quota"
    family = found[SOUTH, "standardNDSH100v5Family"]
    assert family["named"] == f"{azure_role.usages(world.fleet, SOUTH)}/standardNDSH100v5Family"
    assert family["planned_vcpus"] == 96 * (pools["own-gpu"].max + pools["south-gpu"].max)


def test_images_are_those_that_its_pools_start_from(world: World) -> None:
    fleet = world.fleet
    found = {one["pool"]: one for one in told(spec_of(world, "main"))["images"]}
    assert found.keys() == autoscaler.pools(fleet, "main").keys(), "hosts of a site start from what they have"
    assert found["west-gpu"]["named"] == RESOLVE + of_pool(fleet, "west-gpu")
    assert found["south-gpu"]["named"] == azure_role.scale_set(fleet, SOUTH, Names(fleet).groups("south-gpu")[0])
    older = fleet.model_copy(update={"images": fleet.images.model_copy(update={"max_age_days": 120})})
    taken = told(addons_spec(bed.measured(older), world.plan, "main"))["images"]
    assert {one["due_seconds"] for one in taken} == {120 * 86_400}


@pytest.mark.parametrize(("folder", "image"), [("own-program", RESOLVE), ("azure", "/subscriptions/")])
def test_a_fleet_of_one_cloud_is_told_of_that_alone(folder: str, image: str) -> None:
    there = current(bed.ROOT / "examples" / folder / "fleet.yaml")
    spec = spec_of(there, next(iter(there.fleet.clusters)))
    assert bed.every(spec)
    named = [one["named"] for one in told(spec)["images"]]
    assert named
    assert all(one.startswith(image) for one in named)


def test_a_gateway_more_is_a_connection_more_in_each_region(world: World) -> None:
    lab = world.fleet.sites["lab"].model_copy(update={"gateways": ["192.0.2.10", "192.0.2.11"]})
    fleet = world.fleet.model_copy(update={"sites": {"lab": lab}})
    names = {one["connection"] for one in fleet_metrics.connections(fleet, "main")}
    assert {f"{region}-lab-{n}" for region in ("us-west-2", "eu-west-1", SOUTH) for n in (1, 2)} <= names


def test_the_plan_s_room_is_told_by_zones_as_nodes_are_labelled(example: AddOnsSpec) -> None:
    most = told(example)["nodes_most"]
    # The pods' range has a /25 for each node, and the cluster's size reckons with fewer.
    assert most[""] == 512
    assert {zone for zone in most if zone} == {
        *(f"us-west-2{letter}" for letter in "abc"),
        *(f"{region}{letter}" for region in ("us-east-1", "eu-west-1") for letter in "ab"),
        *(f"{SOUTH}-{number}" for number in (1, 2)),
    }
    plan_of = current(bed.ROOT / "fleet.yaml").plan.region("us-west-2").zones["a"]
    assert plan_of.private.endswith("/22")
    assert most["us-west-2a"] == 1024 - 32, "less the first /27, where single addresses stand"


def test_it_is_there_with_monitoring_alone_and_asks_the_api_nothing(example: AddOnsSpec) -> None:
    fleet = example.fleet.model_copy(update={"monitoring": None})
    assert fleet_metrics.ADDON not in addons.wanted(example._replace(fleet=fleet))
    assert fleet_metrics.ADDON in addons.wanted(example)
    made = fleet_metrics.manifests(example)
    assert not bed.asks(made)
    assert not [one for one in made if "Role" in one["kind"]]
    deployment = bed.named(made, "Deployment", fleet_metrics.ADDON)["spec"]
    pod = deployment["template"]["spec"]
    assert (deployment["replicas"], pod["automountServiceAccountToken"]) == (1, False)
    assert pod["nodeSelector"] == {labels.KIND: "system"}
    (container,) = pod["containers"]
    assert container["securityContext"] == NARROW
    assert all(one["readOnly"] for one in container["volumeMounts"])
    (asked,) = [one for one in targets.PODS if one.addon == fleet_metrics.ADDON]
    assert asked.port in [one["name"] for one in container["ports"]]


def test_no_program_of_ours_listens_on_its_port(example: AddOnsSpec) -> None:
    ports = [
        port["containerPort"]
        for name, pod in bed.pods(bed.every(example))
        if name != fleet_metrics.ADDON
        for one in (*pod["containers"], *pod.get("initContainers", []))
        for port in one.get("ports", [])
    ]
    assert recorder.PORT in ports
    assert fleet_metrics.PORT not in ports


def test_its_pod_has_a_token_for_each_cloud_that_it_asks(world: World, example: AddOnsSpec) -> None:
    for of, clouds in (
        (example, {"aws", "azure"}),
        (bed.in_aws(example), {"aws"}),
        (spec_of(world, "main"), {"aws", "azure"}),
        (spec_of(world, "south"), {"aws", "azure"}),
    ):
        pod = fleet_metrics.pod(of)
        (container,) = pod["containers"]
        mounts = {one["name"] for one in container["volumeMounts"]}
        assert mounts == {"settings", *clouds} == {one["name"] for one in pod["volumes"]}
        assert ("AZURE_CLIENT_ID" in {one["name"] for one in container["env"]}) == ("azure" in clouds)
        words = f"--identity={azure_pod_role.FOLDER}/{azure_pod_role.CLIENT_ID}" in container["command"]
        assert words == ("azure" in clouds)


def test_its_program_takes_what_it_is_told_and_shows_its_metrics(example: AddOnsSpec, tmp_path: Path) -> None:
    """By the command of its container, where no cloud answers."""
    data = bed.named(fleet_metrics.manifests(example), "ConfigMap", fleet_metrics.SETTINGS)["data"]
    (tmp_path / "settings.json").write_text(data["settings.json"])
    assert len(settings.read(tmp_path / "settings.json").connections) == len(told(example)["connections"])
    # Nobody is there to be asked.
    alone = {
        "backups": [],
        "restores": [],
        "drift": [],
        "connections": [],
        "peers": [],
        "quotas": [],
        "images": [],
        "shares": [],
        "nodes_most": {"": 512},
    }
    (tmp_path / "settings.json").write_text(json.dumps(alone))
    (container,) = fleet_metrics.pod(bed.in_aws(example))["containers"]
    port = free_port()
    words = [
        word.replace(fleet_metrics.FOLDER, str(tmp_path)).replace(f":{fleet_metrics.PORT}", f"127.0.0.1:{port}")
        for word in container["command"][1:]
    ]
    running = subprocess.Popen([sys.executable, *words], cwd=bed.ROOT, stderr=subprocess.PIPE, text=True)
    try:
        page = eventually(lambda: _page(port), 60)
        assert 'landbridge_nodes_most{zone=""} 512.0' in page
    finally:
        running.send_signal(signal.SIGTERM)
        _, said = running.communicate(timeout=60)
    assert (running.returncode, said) == (0, "")


def _page(port: int) -> str:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            return str(answer.read().decode())
    except OSError:
        return ""
