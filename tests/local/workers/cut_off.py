"""A site of four hosts and a cloud's machine, each with GPUs, on a real control plane; the site's links can be cut.

Two links, so that a part of the site can be out of sight, or all of it. What the control plane thinks of it is its own:
API server, controllers, scheduler and joining service are the real ones, with their real flags but for those of time.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from components.addons import tolerations
from components.addons.spec import addons_spec
from fleet.world import current
from tests.components.pools.joining_bed import ROOT, TABLE
from tests.components.pools.joining_client import Said, apply, eventually
from tests.components.pools.joining_cluster import Cluster, make
from tests.local.workers.worker import Host, Worker
from tests.support.link import Link

PODS, JOBS = "/api/v1/namespaces/default/pods", "/apis/batch/v1/namespaces/default/jobs"
SYSTEM, EVENTS = "/api/v1/namespaces/kube-system/pods", "/api/v1/namespaces/default/events"
GPU, EVERYWHERE = "nvidia.com/gpu", [{"operator": "Exists"}]
UNREACHABLE = "node.kubernetes.io/unreachable"
RUNS_FOR = "local.landbridge.dev/runs-for"
HOSTS = tuple(f"host-{number}.lab" for number in range(1, 5))
SITE = {**TABLE["pools"]["site-gpu"], "hosts": {"host-1": "10.129.0.11", "host-2": "", "host-3": "", "host-4": ""}}
POOLS = {**TABLE, "pools": {**TABLE["pools"], "site-gpu": SITE}}


class Seconds(NamedTuple):
    """`grace` is how long a node may be silent, `stay` how long Kubernetes lets a pod stay on it by itself then."""

    grace: int
    stay: int
    lease: int


# Kubernetes' own, and those of pools' kubelets; and the same some 20 times faster.
REAL, FAST = Seconds(50, 300, 40), Seconds(12, 3, 8)


def flags(told: Seconds) -> dict[str, dict[str, str]]:
    if told == REAL:
        return {}
    stay = {f"default-{what}-toleration-seconds": str(told.stay) for what in ("not-ready", "unreachable")}
    # The rate at which nodes out of sight get the taint that ends pods: 0.1 a second by itself.
    slow = {"node-monitor-grace-period": f"{told.grace}s", "node-monitor-period": "1s", "node-eviction-rate": "0.25"}
    return {"api": stay, "controllers": slow}


class Scene:
    """`far` leads to all hosts of the site but the first, to which `near` leads."""

    def __init__(self, cluster: Cluster, seconds: Seconds) -> None:
        self.cluster, self.seconds, self.admin = cluster, seconds, cluster.admin
        self.near, self.far = Link(cluster.ports["api"]), Link(cluster.ports["api"])
        self.hosts: list[Host] = []
        self.cloud: Worker | None = None

    def site(self) -> None:
        """Returns when its hosts have their GPUs."""
        for name in HOSTS:
            port = (self.near if name == HOSTS[0] else self.far).port
            self.hosts.append(self.up(Host(self.cluster, name, name, "site-gpu", port)))
        for one in self.hosts:
            self.with_gpus(one)

    def region(self) -> None:
        """A machine of the cloud, whose GPUs nobody needs."""
        (name,) = self.cluster.grow("example-west-gpu", 1)
        self.cloud = self.up(Worker(self.cluster, name))
        self.with_gpus(self.cloud)

    def up(self, one: Any) -> Any:
        file = one.folder / "etc/kubernetes/kubelet.json"
        told = file.read_text()
        assert '"nodeLeaseDurationSeconds": 40' in told
        file.write_text(
            told.replace('"nodeLeaseDurationSeconds": 40', f'"nodeLeaseDurationSeconds": {self.seconds.lease}')
        )
        return one.up()

    def with_gpus(self, one: Worker) -> None:
        eventually(one.ready)
        plugin = {"name": f"plugin-{one.name}", "labels": {"app.kubernetes.io/name": "nvidia-device-plugin"}}
        spec = {**pod(), "nodeName": one.name, "tolerations": EVERYWHERE}
        self.admin("POST", SYSTEM, {"apiVersion": "v1", "kind": "Pod", "metadata": plugin, "spec": spec})
        eventually(lambda: one.node()["status"]["allocatable"].get(GPU) == "8")
        eventually(lambda: "startup-taint" not in str(one.node()["spec"]["taints"]))

    def close(self) -> None:
        for link in (self.near, self.far):
            link.mend()
        for one in [*self.hosts, *([self.cloud] if self.cloud else [])]:
            one.stop()
        for link in (self.near, self.far):
            link.close()

    # What people do.

    def job(self, name: str, pods: int, rather: str = "", annotations: Mapping[str, str] | None = None) -> None:
        """Runs until `finish`, with four GPUs a pod; `rather` is a host."""
        noted = {RUNS_FOR: "24h", **(annotations or {})}
        spec = {**pod({"limits": {GPU: "4"}}), "restartPolicy": "Never", "affinity": _rather(rather) if rather else {}}
        work = {
            "completions": pods,
            "parallelism": pods,
            "completionMode": "Indexed",
            "template": {"metadata": {"annotations": noted}, "spec": spec},
        }
        head = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}}
        self.admin("POST", JOBS, {**head, "spec": work})
        eventually(lambda: self.status(name).get("ready") == pods)

    def finish(self, name: str) -> None:
        """The work is done: its pods end by themselves."""
        for one in self.pods(name):
            body = {"metadata": {"annotations": {RUNS_FOR: "0s"}}}
            self.admin("PATCH", f"{PODS}/{one['metadata']['name']}", body, "application/merge-patch+json")

    def end(self, name: str) -> None:
        for one in self.pods(name):
            self.admin("DELETE", f"{PODS}/{one['metadata']['name']}")

    # What is to be seen.

    def status(self, job: str) -> Any:
        return self.admin("GET", f"{JOBS}/{job}")["status"]

    def pods(self, job: str) -> list[Any]:
        return list(self.admin("GET", f"{PODS}?labelSelector=job-name%3D{job}")["items"])

    def made(self, job: str) -> int:
        """How many pods the Job's controller ever made."""
        told = self.admin("GET", f"{EVENTS}?fieldSelector=involvedObject.name%3D{job}")["items"]
        return sum(one.get("count") or 1 for one in told if one["reason"] == "SuccessfulCreate")

    def waiting(self, job: str) -> bool:
        """Whether a pod of it looks for a node: for such a one the autoscaler buys."""
        return any(not one["spec"].get("nodeName") for one in self.pods(job))

    def leaving(self, job: str) -> bool:
        return any("deletionTimestamp" in one["metadata"] for one in self.pods(job))

    def unseen(self) -> set[str]:
        """Nodes of which nothing is heard."""
        nodes = self.admin("GET", "/api/v1/nodes")["items"]
        return {
            one["metadata"]["name"]
            for one in nodes
            if {c["type"]: c["status"] for c in one["status"]["conditions"]}["Ready"] == "Unknown"
        }

    def ending(self) -> set[str]:
        """Nodes with the taint that ends pods."""
        nodes = self.admin("GET", "/api/v1/nodes")["items"]
        ends = {"key": UNREACHABLE, "effect": "NoExecute"}.items()
        return {
            one["metadata"]["name"] for one in nodes if any(ends <= t.items() for t in one["spec"].get("taints", []))
        }

    def uids(self) -> dict[str, str]:
        return {one["metadata"]["name"]: one["metadata"]["uid"] for one in self.admin("GET", "/api/v1/nodes")["items"]}

    def during(self, seconds: float, look: Callable[[], None]) -> None:
        """Looks again and again, all that time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            look()
            time.sleep(0.5)


def pod(resources: Any = None) -> dict[str, Any]:
    container = {"name": "main", "image": "registry.example.com/main:1", "resources": resources or {}}
    return {"automountServiceAccountToken": False, "containers": [container]}


def who(pods: list[Any]) -> dict[str, tuple[str, str]]:
    """Pod's uid → its node and phase."""
    return {one["metadata"]["uid"]: (one["spec"].get("nodeName", ""), one["status"]["phase"]) for one in pods}


def _rather(host: str) -> dict[str, Any]:
    chosen = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [host]}]}
    return {
        "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": chosen}]}
    }


def scene(folder: Path, seconds: Seconds) -> Iterator[Scene]:
    """Ends with the generator. The cloud's machine is not there yet."""
    world = current(ROOT / "fleet.yaml")
    with ExitStack() as stack:
        running = make(folder, flags(seconds), POOLS, gone=2, **{"pass": 0.5})
        cluster = next(running)
        stack.callback(running.close)
        for manifest in tolerations.manifests(addons_spec(world.fleet, world.plan, "main")):
            apply(cluster.admin, manifest)
        cluster.schedule()
        made = Scene(cluster, seconds)
        stack.callback(made.close)
        made.site()
        eventually(lambda: _stays(cluster))
        yield made


def _stays(cluster: Cluster) -> bool:
    """Whether admission has taken the policy up."""
    wish = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "try"}, "spec": pod({"limits": {GPU: "1"}})}
    try:
        told = cluster.admin("POST", f"{PODS}?dryRun=All", wish)["spec"]["tolerations"]
    except Said:
        return False
    return all("tolerationSeconds" not in one for one in told)
