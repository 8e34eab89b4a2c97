"""Admission on the real API server: who stays on a node that is out of sight, and who has Kubernetes' five minutes."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from components.addons import tolerations
from components.addons.spec import AddOnsSpec
from components.addons.tolerations import GONE, MAY_LEAVE
from components.pools import labels
from local.providers.kubernetes.api import ApiError
from tests.components.addons import bed
from tests.support.apiserver import Server

GPUS = {"limits": {"nvidia.com/gpu": "8"}}
Pod = dict[str, Any]


def pod(resources: Pod | None = None, annotations: dict[str, str] | None = None, **spec: Any) -> Pod:
    container = {"name": "c", "image": "registry.example.com/train:1", "resources": resources or {}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "p-", "annotations": annotations or {}},
        "spec": {"containers": [container], **spec},
    }


def within(*, key: str = labels.PLACE, operator: str = "In", value: str = "lab") -> Pod:
    terms = [{"matchExpressions": [{"key": key, "operator": operator, "values": [value]}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


@pytest.fixture(scope="module")
def active(installed: Server) -> Server:
    """The API server takes policies up within seconds."""
    until(lambda: seconds(installed, pod(GPUS)), {None})
    return installed


def until(what: Callable[[], Any], wanted: Any) -> None:
    deadline = time.monotonic() + 60
    while (found := what()) != wanted:
        assert time.monotonic() < deadline, f"{found} instead of {wanted}"
        time.sleep(0.5)


def made(server: Server, one: Pod, space: str = "default") -> list[Pod]:
    """Its tolerations once it is admitted."""
    live = server.api.call("POST", f"/api/v1/namespaces/{space}/pods", {"dryRun": "All"}, one)
    return list(live["spec"].get("tolerations", []))


def seconds(server: Server, one: Pod, space: str = "default") -> set[int | None]:
    """How long it stays on a node that is out of sight; None is for ever."""
    found = [one for one in made(server, one, space) if one.get("key") in GONE]
    assert sorted(one["key"] for one in found) == sorted(GONE)
    assert {one["effect"] for one in found} == {"NoExecute"}
    return {one.get("tolerationSeconds") for one in found}


def test_who_asks_for_gpus_tolerates_their_taint_and_nobody_else_does(active: Server) -> None:
    wanted = {"key": labels.GPU_TAINT.key, "operator": "Exists", "effect": labels.GPU_TAINT.effect}
    assert wanted in made(active, pod(GPUS))
    assert labels.GPU_TAINT.key not in {one.get("key") for one in made(active, pod())}


STAYS = {
    "asks for GPUs": pod(GPUS),
    "asks for GPUs to begin with": pod(initContainers=[{"name": "i", "image": "i", "resources": GPUS}]),
    "chooses the site": pod(nodeSelector={labels.PLACE: "lab"}),
    "chooses the site by its zone": pod(nodeSelector={labels.ZONE: "lab"}),
    "has an affinity to the site": pod(affinity=within()),
    "has five minutes of its own": pod(
        GPUS,
        tolerations=[
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300} for key in GONE
        ],
    ),
}
LEAVES = {
    "is like any other": pod(),
    "chooses a region": pod(nodeSelector={labels.PLACE: "us-west-2"}),
    "avoids the site": pod(affinity=within(operator="NotIn")),
    "is called lab and not there": pod(nodeSelector={"example.com/group": "lab"}),
    "may leave its GPUs": pod(GPUS, {MAY_LEAVE: "true"}),
    "may leave the site": pod(None, {MAY_LEAVE: "true"}, nodeSelector={labels.PLACE: "lab"}),
}


@pytest.mark.parametrize("what", STAYS)
def test_stays_where_it_is(what: str, active: Server) -> None:
    assert seconds(active, STAYS[what]) == {None}


@pytest.mark.parametrize("what", LEAVES)
def test_leaves_after_five_minutes(what: str, active: Server) -> None:
    assert seconds(active, LEAVES[what]) == {300}


@pytest.mark.parametrize("what", [*STAYS, *LEAVES])
def test_a_job_replaces_a_pod_that_stays_only_once_it_has_ended(what: str, active: Server) -> None:
    one = {**STAYS, **LEAVES}[what]
    template = {
        "metadata": {"annotations": one["metadata"]["annotations"]},
        "spec": {**one["spec"], "restartPolicy": "Never"},
    }
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "j-"}, "spec": {"template": template}}

    def policy() -> set[str]:
        live = active.api.call("POST", "/apis/batch/v1/namespaces/default/jobs", {"dryRun": "All"}, job)
        return {live["spec"]["podReplacementPolicy"]}

    until(policy, {"Failed" if what in STAYS else "TerminatingOrFailed"})


def test_other_tolerations_stay_and_no_other_thing_changes(active: Server) -> None:
    mine = {"key": "example.com/mine", "operator": "Equal", "value": "x", "effect": "NoSchedule"}
    found = made(active, pod(nodeSelector={labels.PLACE: "lab"}, tolerations=[mine]))
    assert found == [mine, *({"key": key, "operator": "Exists", "effect": "NoExecute"} for key in GONE)]


def test_a_team_s_pods_tolerate_the_team_s_own_nodes(active: Server) -> None:
    wanted = {"key": labels.OWNER, "operator": "Equal", "value": "research", "effect": "NoSchedule"}
    assert wanted in made(active, pod(), "team-research")
    assert wanted not in made(active, pod(), "team-platform")
    assert labels.OWNER not in {one.get("key") for one in made(active, pod())}


def test_where_a_site_has_machines_without_gpus_any_pod_may_come_to_stand_there(
    active: Server, example: AddOnsSpec
) -> None:
    cpu = next(pool for pool in example.pools if pool.kind == "cpu")
    site = cpu._replace(name="site-cpu", site=True, place="lab")
    apply, (usual, _) = bed.Applying(active), tolerations.stays(example)
    apply(tolerations.stays(example._replace(pools=(*example.pools, site)))[0])
    until(lambda: seconds(active, pod()), {None})
    assert seconds(active, pod(nodeSelector={labels.PLACE: "us-west-2"})) == {300}
    apply(usual)
    until(lambda: seconds(active, pod()), {300})


def test_pods_of_teams_may_not_be_on_the_host(active: Server) -> None:
    """Beyond the network of the node no NetworkPolicy holds: instance metadata would be theirs to ask."""
    with pytest.raises(ApiError, match="violates PodSecurity"):
        made(active, pod(hostNetwork=True), "team-research")
