"""Which nodes get which pods: real Node objects, Kubernetes' own controllers and its own scheduler."""

import time
from collections.abc import Callable, Iterator

import pytest

from components.addons.manifests import INSTANCE, Manifest
from components.addons.spec import AddOnsSpec
from components.pools import labels
from components.pools.spec import PoolSpec
from tests.support.apiserver import Server

EVERYWHERE = {"kube-proxy", "kube-network-policies", "node-dns", "csi-nfs-node"}
CLOUD, SITE = EVERYWHERE | {"flannel", "csi-efs-node"}, EVERYWHERE | {"flannel-site"}
GPU, EFA, RDMA = "nvidia-device-plugin", "aws-efa-device-plugin", "rdma-shared-device-plugin"
WANTED = {
    "site-gpu": SITE | {GPU, RDMA},
    "west-gpu": CLOUD | {GPU, EFA},
    "east-gpu": CLOUD | {GPU, EFA},
    "eu-gpu": CLOUD | {GPU, EFA},
    "cpu": CLOUD,
    "system": CLOUD,
}
BARE = "bare"
ROOM = {"cpu": "32", "memory": "256Gi", "pods": "110"}


def node(pool: PoolSpec, number: int) -> Manifest:
    """As it registers: with the start-up taint, too."""
    zone = {labels.ZONE: pool.place if pool.site else f"{pool.place}{'ab'[number % 2]}"}
    name = f"{pool.name}-{number}"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**labels.labels(pool), **zone, "kubernetes.io/hostname": name}},
        "spec": {"taints": [{"key": t.key, "value": t.value, "effect": t.effect} for t in labels.taints(pool)]},
    }


def make(server: Server, one: Manifest) -> None:
    made = server.api.call("POST", "/api/v1/nodes", {}, one)
    path = f"/api/v1/nodes/{one['metadata']['name']}"
    # Admission taints every new node as not ready, and nobody here would take that away.
    server.patch(path, {"spec": {"taints": one.get("spec", {}).get("taints", [])}})
    ready = {"conditions": [{"type": "Ready", "status": "True"}], "capacity": ROOM, "allocatable": ROOM}
    server.patch(f"{path}/status", {"status": ready})
    assert made["metadata"]["name"]


@pytest.fixture(scope="module")
def nodes(installed: Server, example: AddOnsSpec) -> Iterator[Server]:
    installed.start(
        "kube-scheduler",
        "--kubeconfig=kubeconfig",
        "--leader-elect=false",
        "--secure-port=0",
        "--bind-address=127.0.0.1",
    )
    for pool in example.pools:
        # The regions of eu have none: they begin at zero.
        for number in range(0 if pool.name == "eu-gpu" else 3):
            make(installed, node(pool, number))
    make(installed, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": BARE}})
    yield installed
    installed.end("kube-scheduler")


def pods(server: Server) -> list[Manifest]:
    """Those that are to stay: no kubelet is here to end the others."""
    found = server.api.call("GET", "/api/v1/namespaces/kube-system/pods")["items"]
    return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]


def end(server: Server) -> None:
    """What a kubelet does with pods that are to go."""
    for pod in server.api.call("GET", "/api/v1/namespaces/kube-system/pods")["items"]:
        if "deletionTimestamp" in pod["metadata"]:
            path = f"/api/v1/namespaces/kube-system/pods/{pod['metadata']['name']}"
            server.api.call("DELETE", path, {"gracePeriodSeconds": "0"})


def on(server: Server, name: str) -> set[str]:
    """Whose pods a node is to have: the daemon sets' controller says it by an affinity to the node's name."""
    found = set()
    for pod in pods(server):
        if (daemon := _whose(pod)) and _meant(pod) == name:
            found.add(daemon)
    return found


def _whose(pod: Manifest) -> str:
    """The daemon set that it is of; empty for other pods."""
    owners = {owner["kind"] for owner in pod["metadata"].get("ownerReferences", [])}
    return str(pod["metadata"]["labels"][INSTANCE]) if "DaemonSet" in owners else ""


def _meant(pod: Manifest) -> str:
    required = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    return str(required["nodeSelectorTerms"][0]["matchFields"][0]["values"][0])


def until(what: Callable[[], object], wanted: object) -> None:
    deadline = time.monotonic() + 60
    while (found := what()) != wanted:
        assert time.monotonic() < deadline, f"{found} instead of {wanted}"
        time.sleep(0.3)


@pytest.mark.parametrize("pool", [name for name in WANTED if name != "eu-gpu"])
def test_a_node_of_a_pool_gets_its_daemons(pool: str, nodes: Server) -> None:
    for number in range(3):
        until(lambda number=number: on(nodes, f"{pool}-{number}"), WANTED[pool])


def test_a_first_node_of_an_empty_region_gets_them_too(nodes: Server, example: AddOnsSpec) -> None:
    (pool,) = [pool for pool in example.pools if pool.name == "eu-gpu"]
    make(nodes, node(pool, 0))
    until(lambda: on(nodes, "eu-gpu-0"), WANTED["eu-gpu"])


def test_a_node_without_any_label_of_ours_has_the_network_that_works_anywhere(nodes: Server) -> None:
    until(lambda: on(nodes, BARE), (EVERYWHERE | {"flannel"}))


def test_the_label_alone_brings_a_device_plugin(nodes: Server) -> None:
    """Its loss takes the plugin away: this is what a fleet whose kubelets forgot the label would see."""
    path = "/api/v1/nodes/site-gpu-2"
    nodes.patch(path, {"metadata": {"labels": {labels.GPU_PRESENT: None}}})
    until(lambda: on(nodes, "site-gpu-2"), SITE | {RDMA})
    nodes.patch(path, {"metadata": {"labels": {labels.RDMA: None}}})
    until(lambda: on(nodes, "site-gpu-2"), SITE)
    end(nodes)
    nodes.patch(path, {"metadata": {"labels": {labels.GPU_PRESENT: "true", labels.RDMA: "true"}}})
    until(lambda: on(nodes, "site-gpu-2"), SITE | {GPU, RDMA})


def test_the_device_plugin_comes_back_to_a_machine_with_a_failed_gpu(nodes: Server) -> None:
    taints = [{"key": t.key, "value": t.value, "effect": t.effect} for t in (*labels.TAINTS["gpu"], labels.GPU_FAILED)]
    nodes.patch("/api/v1/nodes/west-gpu-1", {"spec": {"taints": taints}})
    (old,) = [pod for pod in pods(nodes) if _whose(pod) == GPU and _meant(pod) == "west-gpu-1"]
    path = f"/api/v1/namespaces/kube-system/pods/{old['metadata']['name']}"
    nodes.api.call("DELETE", path, {"gracePeriodSeconds": "0"})
    until(lambda: nodes.find(path), None)
    until(lambda: on(nodes, "west-gpu-1"), WANTED["west-gpu"])


def places(server: Server) -> dict[str, list[str]]:
    """Deployment → nodes of its replicas; an empty name is a replica that waits."""
    found: dict[str, list[str]] = {}
    for pod in pods(server):
        if any(owner["kind"] == "ReplicaSet" for owner in pod["metadata"].get("ownerReferences", [])):
            found.setdefault(pod["metadata"]["labels"][INSTANCE], []).append(pod["spec"].get("nodeName", ""))
    return found


def test_dns_stands_on_different_hosts_in_every_place_and_the_autoscaler_on_system_machines(nodes: Server) -> None:
    # GPUs are advertised now: DNS does not tolerate the start-up taint.
    for pool in ("site-gpu", "east-gpu"):
        taint = [{"key": t.key, "value": t.value, "effect": t.effect} for t in (labels.GPU_TAINT,)]
        for number in range(3):
            nodes.patch(f"/api/v1/nodes/{pool}-{number}", {"spec": {"taints": taint}})

    def hosts() -> dict[str, tuple[int, set[str]]]:
        return {name: (len(set(on)), {host.rpartition("-")[0] for host in on}) for name, on in places(nodes).items()}

    until(
        hosts,
        {
            "coredns-us-west-2": (2, {"system"}),
            "coredns-us-east-1": (2, {"east-gpu"}),
            # Its one machine still starts: replicas wait, and are of a class that buys no machine.
            "coredns-eu-west-1": (1, {""}),
            "coredns-lab": (2, {"site-gpu"}),
            "coredns-southcentralus": (1, {""}),
            "cluster-autoscaler": (2, {"system"}),
            "maintenance": (2, {"system"}),
            "recorder": (2, {"system"}),
            "fleet-metrics": (1, {"system"}),
        },
    )


def test_a_replica_without_a_host_of_its_own_waits(nodes: Server) -> None:
    path = "/apis/apps/v1/namespaces/kube-system/deployments/coredns-lab"
    nodes.patch(path, {"spec": {"replicas": 4}})
    until(lambda: sorted(host[:8] for host in places(nodes)["coredns-lab"]), ["", "site-gpu", "site-gpu", "site-gpu"])
    nodes.patch(path, {"spec": {"replicas": 2}})
