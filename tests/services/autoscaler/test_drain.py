"""What is put away gently, late or never, and what is bought whole or not at all, with the real Cluster Autoscaler."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from components.addons import gangs
from components.pools import labels
from tests.components.pools.joining_client import eventually
from tests.services.autoscaler.autoscaled import PODS, Autoscaled, autoscaled

# Minutes on a busy machine: the local AWS launches by and by.
pytestmark = pytest.mark.timeout(1500)
LONG = 600
WEST, EAST = "us-west-2", "us-east-1"
CPU, GPU, GROUP = "c7i.8xlarge", "p5.48xlarge", "example-west-gpu-a"
GANGS = f"/apis/{gangs.GROUP}/{gangs.VERSION}/namespaces/default/{gangs.PLURAL}"
STAYS = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
GOING, NOT_READY = "ToBeDeletedByClusterAutoscaler", "node.kubernetes.io/not-ready"
# Its kubelet ends it after so long, and the test lets it go.
SAVES, WAITS = {"local.landbridge.dev/saves-for": "10s"}, "example.com/waits"
# All that matters of a machine with GPUs.
WHOLE = {"nvidia.com/gpu": "8", "cpu": "150"}
GPU_ONLY = [{"key": labels.GPU_TAINT.key, "operator": "Exists"}]


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Autoscaled]:
    """Whose pods kept a machine and have gone keep it for seconds, not for five minutes."""
    seconds = {"unremovable_node_recheck_timeout": "5s"}
    with autoscaled(tmp_path_factory.mktemp("drain"), site=0, most={"west_gpu": 4}, **seconds) as made:
        yield made


def live(one: Autoscaled, shape: str = CPU) -> list[str]:
    states = ("pending", "running")
    return [found["InstanceId"] for found in one.cloud.launched(WEST, shape) if found["State"]["Name"] in states]


def bought(one: Autoscaled, shape: str = CPU) -> int:
    return len(one.cloud.launched(WEST, shape))


def node(one: Autoscaled, name: str) -> dict[str, Any]:
    return dict(one.api.call("GET", f"/api/v1/nodes/{name}"))


def taints(one: Autoscaled, name: str) -> set[str]:
    return {taint["key"] for taint in node(one, name)["spec"].get("taints", [])}


def bound(one: Autoscaled, job: str, name: str) -> dict[str, Any]:
    """A job's pod, put on a node by hand: no scheduler knows of the next one."""
    (pod,) = eventually(lambda: one.pods(job), LONG)
    target = {"apiVersion": "v1", "kind": "Node", "name": name}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod["metadata"]["name"]}, "target": target}
    one.api.call("POST", f"{PODS}/{pod['metadata']['name']}/binding", None, body)
    eventually(lambda: one.running(job) == 1, LONG)
    return dict(pod["metadata"])


def test_who_may_not_be_moved_stays_and_who_may_is_given_its_time(one: Autoscaled) -> None:
    """Three machines that are hardly used: one with a pod that nobody may evict, one with a pod of nobody's, and one
    with a pod that may go, and takes its time.
    """
    one.cpu_job("ballast", 3, 20)
    eventually(lambda: one.running("ballast") == 3, LONG)
    first, second, third = sorted(live(one))
    one.cpu_job("stays", 1, 1, annotations=STAYS, nodeName=first)
    gentle = {"schedulerName": "by-hand", "terminationGracePeriodSeconds": 45}
    one.cpu_job("moves", 1, 1, annotations=SAVES, finalizers=[WAITS], **gentle)
    container = {"name": "work", "image": "example.com/work", "resources": {"limits": {"cpu": "1"}}}
    naked = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "naked"}, "spec": {"containers": [container]}}
    naked["spec"] |= {"nodeName": second}  # type: ignore[operator]
    one.api.call("POST", PODS, None, naked)
    moves = bound(one, "moves", third)
    # By hand, and with work on it.
    one.kube.patch(f"/api/v1/nodes/{first}", {"spec": {"unschedulable": True}})
    stay = {pod["metadata"]["uid"] for pod in [*one.pods("stays"), one.api.call("GET", f"{PODS}/naked")]}
    one.end("ballast")

    def leaving() -> dict[str, Any]:
        found = one.kube.find(f"{PODS}/{moves['name']}") or {"metadata": {}}
        return found["metadata"] if "deletionTimestamp" in found["metadata"] else {}

    told = eventually(leaving, LONG)
    assert told["deletionGracePeriodSeconds"] == 45, "its own"
    assert GOING in taints(one, third)
    assert sorted(live(one)) == [first, second, third], "no machine ends before its pods have"
    one.kube.patch(f"{PODS}/{moves['name']}", {"metadata": {"finalizers": None}})
    eventually(lambda: sorted(live(one)) == [first, second], LONG)
    # The other two have been judged like it since, and found in use.
    why = (f"Node {first} cannot be removed: pod annotated as not safe to evict", "default/naked is not replicated")
    eventually(lambda: all(words in one.log() for words in why), LONG)
    there = [*one.pods("stays"), one.api.call("GET", f"{PODS}/naked")]
    assert {pod["metadata"]["uid"] for pod in there} == stay
    assert not any("deletionTimestamp" in pod["metadata"] for pod in there)
    assert node(one, first)["spec"]["unschedulable"], "a cordon by hand is nobody's to undo"
    assert bought(one) == 3
    one.end("moves")


def test_work_that_returns_before_a_machine_has_gone_finds_it(one: Autoscaled) -> None:
    """Two machines idle, whose end begins, and a breaker stops it."""
    there, before = sorted(live(one)), bought(one)
    assert len(there) == 2
    freeze = one.service.folder / "freeze"
    freeze.mkdir()
    (freeze / "why").write_text("a drill")
    one.end("stays")
    one.api.call("DELETE", f"{PODS}/naked")
    for name in there:
        one.kube.patch(f"/api/v1/nodes/{name}", {"spec": {"unschedulable": None}})
    told = eventually(lambda: [said for said in one.said("no-end") if said["why"].startswith("frozen: a drill")], LONG)
    assert {*told[0]["ids"]} <= {*there}
    one.cpu_job("returns", 2, 20)
    eventually(lambda: one.running("returns") == 2, LONG)
    eventually(lambda: not any(GOING in taints(one, name) for name in there), LONG)
    assert (sorted(live(one)), bought(one)) == (there, before)
    (freeze / "why").unlink()
    one.end("returns")


def gang(one: Autoscaled, name: str, pods: int) -> dict[str, Any]:
    """Asks for machines for so many pods of eight GPUs, and waits for the answer: the condition Provisioned."""
    container = {"name": "work", "image": "example.com/work", "resources": {"limits": WHOLE}}
    template = {"spec": {"containers": [container], "tolerations": GPU_ONLY, "restartPolicy": "Never"}}
    body = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": name}, "template": template}
    one.api.call("POST", "/api/v1/namespaces/default/podtemplates", None, body)
    spec = {
        "provisioningClassName": gangs.CLASS,
        "podSets": [{"count": pods, "podTemplateRef": {"name": name}}],
    }
    kind = {"apiVersion": f"{gangs.GROUP}/{gangs.VERSION}", "kind": "ProvisioningRequest", "metadata": {"name": name}}
    one.api.call("POST", GANGS, None, {**kind, "spec": spec})

    def answer() -> dict[str, Any]:
        told = one.api.call("GET", f"{GANGS}/{name}").get("status", {}).get("conditions", [])
        return next((one for one in told if one["type"] == "Provisioned"), {})

    return dict(eventually(answer, LONG))


def test_a_gang_gets_all_of_its_machines_in_one_group_or_none(one: Autoscaled) -> None:
    """The west may have four, the eu two hundred: neither takes a part of a gang that is larger."""
    before = one.launched()
    told = gang(one, "too-large", 201)
    assert (told["status"], told["reason"]) == ("False", "CapacityIsNotFound")
    assert one.launched() == before
    told = gang(one, "five", 5)
    assert told["status"] == "True", told
    one.job("five", 5, limits=WHOLE, annotations={gangs.CONSUME: "five"}, tolerations=GPU_ONLY)
    eventually(lambda: one.running("five") == 5, LONG)
    assert one.launched() == {**before, EAST: before[EAST] + 5}
    # Until then room is kept for it a second time, for ten minutes.
    for name in ("five", "too-large"):
        one.api.call("DELETE", f"{GANGS}/{name}")


def test_nodes_out_of_sight_keep_their_region_s_machines_and_stop_no_burst(one: Autoscaled) -> None:
    """First all of the site's, then three of four with GPUs in the west."""
    before = one.launched()
    one.by_hand = True
    site = [f"host-{number}.lab" for number in (1, 2)]
    for number in (1, 2):
        one.join_site(number)
    # Every new node has the taint at first, and loses it when it is seen to be Ready.
    eventually(lambda: not any(NOT_READY in taints(one, name) for name in site), LONG)
    for name in site:
        one.say_ready(name, ready=False)
    eventually(lambda: all(NOT_READY in taints(one, name) for name in site), LONG)
    # Work without GPUs does not wait for 30 s, and so much of it fits these machines alone.
    one.job("burst", 4, limits={"cpu": "150"}, annotations=STAYS, tolerations=GPU_ONLY)
    eventually(lambda: one.running("burst") == 4, LONG)
    machines = live(one, GPU)
    assert one.launched() == {**before, WEST: before[WEST] + 4}
    for name in machines[:3]:
        one.say_ready(name, ready=False)
    one.end("burst")

    def kept() -> list[dict[str, Any]]:
        return [said for said in one.said("no-end") if said["group"] == GROUP]

    (told, *_) = eventually(kept, LONG)
    assert re.match("region-not-ready: 3 of the [4-6] nodes of us-west-2 are NotReady", told["why"])
    assert told["ids"] == machines[3:]
    assert live(one, GPU) == machines
    for name in machines[:3]:
        one.say_ready(name)
    eventually(lambda: len(live(one, GPU)) < 4, LONG)
    assert {found["metadata"]["name"] for found in one.nodes()} >= {*site}, "hosts of a site are nobody's to remove"
