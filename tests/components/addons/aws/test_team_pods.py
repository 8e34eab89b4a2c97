"""Admission on the real API server: who gets a token for the team's role, and that nothing else changes."""

from typing import Any

import pytest

from components.addons.aws import team_pods, team_roles
from components.addons.aws.team_pods import FOLDER, VOLUME
from components.addons.azure import team_pods as azure_team_pods
from components.addons.spec import AddOnsSpec
from tests.components.addons.test_tolerations import until
from tests.support.apiserver import Server

Pod = dict[str, Any]
SPACE = "team-research"
MOUNT = {"name": VOLUME, "mountPath": FOLDER, "readOnly": True}
BARE = {"name": "bare", "image": "registry.example.com/train:1"}
BUSY = {
    **BARE,
    "name": "busy",
    "env": [
        {"name": "HOME", "value": "/work"},
        {"name": "AWS_REGION", "value": "eu-west-1"},
        {"name": "AWS_ROLE_ARN", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
    ],
    "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}],
    "resources": {"limits": {"cpu": "2"}},
}
HELD = {**BARE, "name": "held", "volumeMounts": [{"name": "scratch", "mountPath": FOLDER}]}


def pod(account: str = "storage", **more: Any) -> Pod:
    spec = {
        "serviceAccountName": account,
        "initContainers": [{**BARE, "name": "first"}, {**BUSY, "name": "then"}],
        "containers": [BARE, BUSY, HELD],
        "volumes": [{"name": "scratch", "emptyDir": {}}],
        **more,
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "p-"}, "spec": spec}


def made(server: Server, one: Pod, space: str = SPACE) -> Pod:
    live = server.api.call("POST", f"/api/v1/namespaces/{space}/pods", {"dryRun": "All"}, one)
    return dict(live["spec"])


def injected(found: Pod) -> bool:
    return VOLUME in [volume["name"] for volume in found.get("volumes", [])]


@pytest.fixture(scope="module")
def active(installed: Server) -> Server:
    """The API server takes policies up within seconds."""
    until(lambda: injected(made(installed, pod())), True)
    return installed


def of_aws(container: Pod) -> dict[str, str | None]:
    """The example has a region in Azure, whose variables stand beside."""
    return {name: value for name, value in environment(container).items() if name.startswith("AWS_")}


def environment(container: Pod) -> dict[str, str | None]:
    names = [one["name"] for one in container["env"]]
    assert len(names) == len(set(names)), names
    return {one["name"]: one.get("value") for one in container["env"]}


def test_every_container_finds_its_role(active: Server, example: AddOnsSpec) -> None:
    found = made(active, pod())
    wanted = {
        "AWS_ROLE_ARN": team_roles.role_arn(example.fleet, "main", "research"),
        "AWS_WEB_IDENTITY_TOKEN_FILE": f"{FOLDER}/token",
        "AWS_REGION": "us-west-2",
        "AWS_DEFAULT_REGION": "us-west-2",
        "AWS_STS_REGIONAL_ENDPOINTS": "regional",
        "AWS_S3_US_EAST_1_REGIONAL_ENDPOINT": "regional",
    }
    for container in (found["initContainers"][0], found["containers"][0]):
        assert of_aws(container) == wanted
        assert MOUNT in container["volumeMounts"]
    (volume,) = [one for one in found["volumes"] if one["name"] == VOLUME]
    source = {"audience": "sts.amazonaws.com", "expirationSeconds": 3600, "path": "token"}
    assert volume["projected"]["sources"] == [{"serviceAccountToken": source}]


def test_what_a_container_says_itself_stays(active: Server) -> None:
    found = made(active, pod())
    for container in (found["initContainers"][1], found["containers"][1]):
        assert container["env"][:3] == BUSY["env"]
        own = environment(container)
        assert own["AWS_WEB_IDENTITY_TOKEN_FILE"] == f"{FOLDER}/token"
        assert container["volumeMounts"][0] == BUSY["volumeMounts"][0]
    mounts = [mount for mount in found["containers"][2]["volumeMounts"] if mount["mountPath"] == FOLDER]
    assert [mount["name"] for mount in mounts] == ["scratch"]


def test_nothing_else_changes(active: Server, example: AddOnsSpec) -> None:
    """A pod of another account is like it but for what is ours."""
    names = {*team_pods.variables(example), team_pods.ROLE, *azure_team_pods.variables(example), azure_team_pods.CLIENT}
    volumes = (VOLUME, azure_team_pods.VOLUME)
    found, other = made(active, pod()), made(active, pod("plain"))
    assert not injected(other)
    found["volumes"] = [volume for volume in found["volumes"] if volume["name"] not in volumes]
    for spec in (found, other):
        del spec["serviceAccountName"], spec["serviceAccount"]
        for container in (*spec["initContainers"], *spec["containers"]):
            container["env"] = [one for one in container.get("env", []) if one["name"] not in names]
            container["volumeMounts"] = [one for one in container.get("volumeMounts", []) if one["name"] not in volumes]
    assert found == other


def test_each_team_has_its_own_role(active: Server, example: AddOnsSpec) -> None:
    (container, *_) = made(active, pod(), "team-platform")["containers"]
    assert environment(container)["AWS_ROLE_ARN"] == team_roles.role_arn(example.fleet, "main", "platform")


def test_who_is_no_team_s_or_does_it_by_hand_is_left_alone(active: Server) -> None:
    assert not injected(made(active, pod(), "default"))
    by_hand = {"name": VOLUME, "emptyDir": {}}
    found = made(active, pod(volumes=[{"name": "scratch", "emptyDir": {}}, by_hand]))
    assert [volume for volume in found["volumes"] if volume["name"] == VOLUME] == [by_hand]
    assert of_aws(found["containers"][0]) == {}


def test_a_pod_with_nothing_but_an_image_gets_it_and_keeps_its_tolerations(active: Server) -> None:
    spec = {"serviceAccountName": "storage", "containers": [BARE]}
    found = made(active, {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "p-"}, "spec": spec})
    assert injected(found)
    assert "landbridge.dev/owner" in [one.get("key") for one in found["tolerations"]]
