"""The recorder's pod: what it is told, which rights it has in the cluster, and that it can do no more than look."""

import json
from pathlib import Path
from typing import Any

import pytest

from components.addons import addons, autoscaler, kube_proxy, recorder
from components.addons.azure import pod_role as azure_pod_role
from components.addons.spec import AddOnsSpec, addons_spec
from components.addons.system_pods import NARROW
from components.pools import labels
from components.storage.places import EXPIRY_DAYS, RECORDS, TEAM_RECORDS
from fleet import buckets
from fleet import recorder as fleet_recorder
from fleet.world import World
from tests.components.addons import bed

SOUTH = "southcentralus"
GROUPS = ["/subscriptions/00000000-0000-4000-8000-00000000000a/resourceGroups/example-southcentralus"]


@pytest.fixture(scope="module")
def world() -> World:
    return bed.both()


def spec_of(world: World, cluster: str) -> AddOnsSpec:
    return addons_spec(world.fleet, world.plan, cluster)


def told(of: AddOnsSpec) -> dict[str, Any]:
    data = bed.named(recorder.manifests(of), "ConfigMap", recorder.SETTINGS)["data"]
    return dict(json.loads(data["settings.json"]))


def options(of: AddOnsSpec) -> dict[str, str]:
    (container,) = recorder.pod(of)["containers"]
    assert container["command"][:3] == ["python3", "-m", "services.recorder"]
    return dict(word.split("=", 1) for word in container["command"][3:])


def test_it_is_told_its_cluster_its_teams_and_its_home_s_bucket(example: AddOnsSpec) -> None:
    assert told(example) == {
        "cluster": "main",
        "into": "s3://example-us-west-2-123456789012",
        "teams": ["platform", "research"],
        "queues": True,
        "machines": ["eu-west-1", "us-east-1", "us-west-2", *GROUPS],
        "audit": ["audit/main/main-api-1/", "audit/main/main-api-2/"],
    }


def test_at_home_in_azure_it_is_a_storage_account(world: World) -> None:
    account = buckets.bucket_name(world.fleet, SOUTH)
    assert told(spec_of(world, "south"))["into"] == f"https://{account}.blob.core.windows.net/fleet"
    assert told(spec_of(world, "main"))["queues"] is False
    assert told(spec_of(world, "main"))["into"].startswith("s3://both-us-west-2-"), "wherever it has nodes beside"


def test_its_pod_has_a_token_for_its_home_s_cloud_and_for_those_where_it_has_machines(
    world: World, example: AddOnsSpec
) -> None:
    found: dict[str, tuple[list[str], set[str], dict[str, str]]] = {}
    for cluster in ("main", "south"):
        of = spec_of(world, cluster)
        (container,) = recorder.pod(of)["containers"]
        mounts = {one["name"] for one in container["volumeMounts"]}
        assert mounts == {one["name"] for one in recorder.pod(of)["volumes"]}
        found[cluster] = [one["name"] for one in container["env"]], mounts, options(of)
    env, mounts, words = found["main"]
    assert mounts == {"settings", "aws", "azure"}
    assert {"AWS_ROLE_ARN", "AZURE_CLIENT_ID"} <= {*env}
    assert "--identity" in words
    env, mounts, words = found["south"]
    assert mounts == {"settings", "aws", "azure"}
    assert {"AWS_ROLE_ARN", "AZURE_CLIENT_ID"} <= {*env}
    assert [one for one in told(spec_of(world, "south"))["machines"] if not one.startswith("/")] == ["us-west-2"]
    assert words["--identity"] == f"{azure_pod_role.FOLDER}/{azure_pod_role.CLIENT_ID}"
    without = bed.in_aws(example)
    assert {one["name"] for one in recorder.pod(without)["volumes"]} == {"settings", "aws"}
    assert "--identity" not in options(without)
    assert told(without)["machines"] == ["eu-west-1", "us-east-1", "us-west-2"]
    pools = {name: pool for name, pool in world.fleet.pools.items() if name != "own-west"}
    at_home = spec_of(World(world.fleet.model_copy(update={"pools": pools}), world.plan, world.path), "south")
    assert {one["name"] for one in recorder.pod(at_home)["volumes"]} == {"settings", "azure"}
    assert not [one for one in recorder.pod(at_home)["containers"][0]["env"] if one["name"].startswith("AWS")]
    volume = recorder.pod(at_home)["volumes"][1]
    assert volume["projected"]["sources"][1]["configMap"]["name"] == "recorder-identity"


def test_what_it_is_told_lies_where_it_looks_and_its_health_is_asked_where_it_listens(example: AddOnsSpec) -> None:
    (container,) = recorder.pod(example)["containers"]
    found = options(example)
    mounts = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    assert str(Path(found["--settings"]).parent) == mounts["settings"]
    assert (
        Path(found["--settings"]).name in bed.named(recorder.manifests(example), "ConfigMap", recorder.SETTINGS)["data"]
    )
    assert found["--account"] == kube_proxy.TOKEN, "where Kubernetes lays it"
    assert found["--replica"] == "$(POD_NAME)"
    assert container["env"][0] == {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    for probe in ("startupProbe", "livenessProbe"):
        assert container[probe]["httpGet"] == {"path": "/healthz", "port": int(found["--metrics"].removeprefix(":"))}


def test_no_program_of_ours_listens_on_its_port(example: AddOnsSpec) -> None:
    """On a machine pods of one network may stand beside each other."""
    ports = [
        port["containerPort"]
        for name, pod in bed.pods(bed.every(example))
        if name != recorder.ADDON
        for one in (*pod["containers"], *pod.get("initContainers", []))
        for port in one.get("ports", [])
    ]
    assert autoscaler.SERVICE_PORT in ports
    assert recorder.PORT not in ports


def test_two_replicas_stand_on_two_system_machines_and_write_nothing_there(example: AddOnsSpec) -> None:
    made = recorder.manifests(example)
    deployment = bed.named(made, "Deployment", recorder.ADDON)["spec"]
    pod = deployment["template"]["spec"]
    assert deployment["replicas"] == 2
    assert deployment["strategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}
    assert pod["nodeSelector"] == {labels.KIND: "system"}
    assert pod["terminationGracePeriodSeconds"] == 30
    (container,) = pod["containers"]
    assert container["securityContext"] == NARROW
    assert container["imagePullPolicy"] == "Never"
    assert all(one["readOnly"] for one in container["volumeMounts"])
    assert not [one for one in pod["volumes"] if "emptyDir" in one or "hostPath" in one]
    budget = bed.named(made, "PodDisruptionBudget", recorder.ADDON)["spec"]
    assert budget == {"maxUnavailable": 1, "selector": deployment["selector"]}


@pytest.mark.parametrize(
    ("size", "asked"), [("small", ("50m", "128Mi")), ("medium", ("100m", "192Mi")), ("large", ("200m", "384Mi"))]
)
def test_it_asks_for_more_in_a_larger_cluster(size: str, asked: tuple[str, str], example: AddOnsSpec) -> None:
    main = example.fleet.clusters["main"].model_copy(update={"size": size})
    fleet = example.fleet.model_copy(update={"clusters": {"main": main}})
    (container,) = recorder.pod(example._replace(fleet=fleet))["containers"]
    assert container["resources"]["requests"] == {"cpu": asked[0], "memory": asked[1]}


def rights(of: AddOnsSpec) -> dict[tuple[str, str, str], set[str]]:
    """Kind of role, group and resource → verbs."""
    return {
        (one["kind"], group, resource): set(rule["verbs"])
        for one in recorder.manifests(of)
        if one["kind"] in ("ClusterRole", "Role")
        for rule in one["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def test_its_rights_are_to_look_and_no_others(example: AddOnsSpec, world: World) -> None:
    look = {"list", "watch"}
    bare = {
        ("ClusterRole", "", "pods"): look,
        ("ClusterRole", "", "nodes"): look,
        ("ClusterRole", "", "events"): look,
        ("ClusterRole", "", "pods/log"): {"get"},
        ("ClusterRole", "batch", "jobs"): look,
    }
    runs = {
        ("ClusterRole", "jobset.x-k8s.io", "jobsets"): look,
        ("ClusterRole", "kueue.x-k8s.io", "workloads"): look,
    }
    assert rights(spec_of(world, "main")) == bare, "it has no queues"
    assert rights(example) == {**bare, **runs}


def test_every_cluster_has_one(world: World, example: AddOnsSpec) -> None:
    for of in (example, spec_of(world, "main"), spec_of(world, "south")):
        assert recorder.ADDON in addons.wanted(of)


def test_records_go_after_a_month_and_no_place_begins_as_another_does() -> None:
    assert (RECORDS, TEAM_RECORDS) == ("records", "team-records")
    assert {EXPIRY_DAYS[place] for place in (RECORDS, TEAM_RECORDS)} == {30}
    assert fleet_recorder.written("main") == ["records/main/*", "team-records/*/main/*"]
    assert fleet_recorder.read_by("research") == "team-records/research/*"
    assert fleet_recorder.team_folder("research", "main").startswith(fleet_recorder.read_by("research")[:-1])
