"""The second example fleet on the real engine: control plane in Azure, GPUs in a machine room. All of it comes up."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from fleet.loader import load
from stacks.catalogue import catalogue, unserved
from tests.components.pools.joining_client import eventually
from tests.e2e.test_hybrid import Hybrid
from tests.e2e.test_lifecycle import changes
from tests.fleet.test_examples import AZURE
from tests.support.cloud import Cloud

# A control plane, four hosts and three machines, where others work on the machine, too.
pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]
HOSTS = [f"host-{number}.lab" for number in range(1, 5)]
LONG = 400


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hybrid]:
    folder = tmp_path_factory.mktemp("room")
    for name in ("fleet.yaml", "fleet.lock.yaml"):
        (folder / name).write_text((AZURE.parent / name).read_text())
    made = Cloud(folder / "home", folder / "fleet.yaml")
    try:
        yield Hybrid(made, made.report("up", "--local", "--yes", seconds=1200))
    finally:
        made.stop()


def ready(nodes: list[dict[str, Any]]) -> list[str]:
    return sorted(
        str(node["metadata"]["name"])
        for node in nodes
        if {"Ready": "True"}.items() <= {one["type"]: one["status"] for one in node["status"]["conditions"]}.items()
    )


def test_all_of_it_comes_up_by_its_committed_ledger(room: Hybrid) -> None:
    fleet = load(room.cloud.fleet)
    assert unserved(fleet) == []
    created = changes(room.up)
    assert created.keys() == {stack.name for stack in catalogue(fleet)}
    assert "main-addons" in created
    assert all(set(counts) == {"created"} for counts in created.values()), created


def test_the_hosts_of_the_room_and_the_system_machines_of_azure_are_ready_when_it_ends(room: Hybrid) -> None:
    assert ready(room.nodes("site-gpu")) == HOSTS
    system = room.nodes("system")
    assert len(ready(system)) == 2
    zones = {node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in system}
    assert zones == {"southcentralus-1", "southcentralus-2"}


def test_a_gpu_job_runs_in_the_room(room: Hybrid) -> None:
    (pod,) = room.job("in-the-room", "lab")
    assert pod["spec"]["nodeName"] in HOSTS


def test_the_autoscaler_buys_a_machine_of_azure_for_work_without_gpus(room: Hybrid) -> None:
    """Its pod is on a machine of Azure, and signs in there by a token of the cluster."""
    room.kubectl("rollout", "status", "deployment/cluster-autoscaler", "--namespace=kube-system", "--timeout=100s")
    pod = {
        "restartPolicy": "Never",
        "nodeSelector": {"landbridge.dev/kind": "cpu"},
        "containers": [{"name": "main", "image": "example.com/a", "resources": {"limits": {"cpu": "8"}}}],
    }
    made = {"metadata": {"annotations": {"local.landbridge.dev/runs-for": "2h"}}, "spec": pod}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "bought"}, "spec": {"template": made}}
    room.kubectl("apply", "-f", "-", stdin=json.dumps(job))

    def running() -> list[dict[str, Any]]:
        pods = room.get("pods", "-l", "batch.kubernetes.io/job-name=bought")
        return [one for one in pods if one["status"]["phase"] == "Running"]

    (pod,) = eventually(running, LONG)
    assert [pod["spec"]["nodeName"]] == ready(room.nodes("cpu"))
    told = room.cloud.report("autoscaler", "status", "--local")
    assert {one["group"]: one["target"] for one in told["groups"] if one["pool"] == "cpu"} == {"room-cpu-all": 1}
    assert (told["trouble"], told["frozen"]) == ([], None)


def test_the_room_has_four_tunnels_to_its_region(room: Hybrid) -> None:
    told = room.cloud.report("links", "check", "--local", code=None)
    assert {one["tunnel"] for one in told["tunnels"]} == {f"lab/southcentralus/{n}" for n in (1, 2, 3, 4)}
    assert {one["state"] for one in told["tunnels"]} == {"up"}


def test_a_second_up_changes_nothing(room: Hybrid) -> None:
    unchanged = changes(room.cloud.report("up", "--local", "--yes", "--full", "--expect-no-changes", seconds=1200))
    assert all(set(counts) == {"same"} for counts in unchanged.values()), unchanged
