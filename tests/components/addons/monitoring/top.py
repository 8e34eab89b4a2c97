"""A cluster of one machine for metrics-server, in a network of its own: with an address that endpoints may have.

The API server has the flags of a cluster's own by which it knows APIs behind it, and metrics-server the command and the
files of its pod, with the rights of its account. The kubelet's port is a local machine's.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from components.addons.manifests import Manifest
from components.addons.monitoring import metrics_api, prometheus
from components.addons.spec import AddOnsSpec
from components.addons.system_pods import TOKEN
from components.control_plane import api
from components.control_plane.api import PKI
from fleet.monitoring import SPACE
from kube_http import Kube
from landbridge.access import rbac
from local.workers import usage
from local.workers.callers import Callers
from local.workers.port import KubeletPort, Served
from tests.components.addons.bed import ROOT, Applying, named
from tests.components.addons.cloud import token
from tests.support.apiserver import BIN, HERE, Authority, Server
from tests.support.children import DYING_WITH_US

NODE, STRANGER = ("gpu-1", "10.99.0.1"), ("gpu-2", "10.99.0.2")
TEAM, PERSON, POD = "team-research", "bob", "train"
# It has so much memory and is always at work.
MIB = 64
BUSY = f"kept = bytearray(range(256)) * ({MIB} << 12)\nwhile True: pass"
# metrics-server takes no less, for a kubelet may take ten seconds.
SECONDS = 12
OF_AGGREGATOR = ("requestheader-", "proxy-client-", "enable-aggregator-routing")


def flags(spec: AddOnsSpec, folder: Path) -> list[str]:
    """Those of an API machine, of what is behind the API; the files are made as its PKI does."""
    front = Authority()
    crt, key = front.leaf("front-proxy-client")
    files = {"front-proxy-ca.crt": front.pem, "front-proxy-client.crt": crt, "front-proxy-client.key": key}
    for name, text in files.items():
        (folder / name).write_text(text)
    found = api.api_flags(spec.cluster, spec.cluster.api[0])
    return [
        f"--{name}={str(value).replace(PKI, str(folder))}"
        for name, value in found.items()
        if name.startswith(OF_AGGREGATOR)
    ]


class Pods:
    """What runs on the node: one container, a process in a namespace of its own."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def used(self) -> str:
        return usage.text([usage.Container(TEAM, POD, "main", self.pid, 1.0)], time.time())


class Top:
    def __init__(self, folder: Path, spec: AddOnsSpec) -> None:
        self.folder, self.spec, self.stack = folder, spec, ExitStack()
        folder.mkdir(parents=True, exist_ok=True)
        self.kube = Server(
            folder,
            controllers="namespace-controller,clusterrole-aggregation-controller",
            services_cidr=spec.cluster.services_cidr,
            more=flags(spec, folder),
        )
        self.manifests = metrics_api.manifests(spec)
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def up(self) -> None:
        for words in ("link set lo up", *(f"address add {address}/32 dev lo" for _, address in (NODE, STRANGER))):
            subprocess.run(["ip", *words.split()], check=True)
        self.kube.up()
        apply = Applying(self.kube)
        apply(prometheus.manifests(self.spec)[0])
        for one in self.manifests:
            if one["kind"] not in ("Deployment", "PodDisruptionBudget"):
                apply(one)
        apply(endpoints())
        for one in (*rbac.teams(self.spec.fleet), *rbac.person(self.spec.fleet, PERSON, ""), *objects()):
            apply(one)
        for name, address in (NODE, STRANGER):
            size = {"cpu": "4", "memory": "8Gi"}
            where = [{"type": "InternalIP", "address": address}]
            ready = [{"type": "Ready", "status": "True", "reason": "Tried"}]
            status = {"addresses": where, "capacity": size, "allocatable": size, "conditions": ready}
            self.kube.patch(f"/api/v1/nodes/{name}/status", {"status": status})
        # Others it does not look for.
        self.kube.patch(f"/api/v1/namespaces/{TEAM}/pods/{POD}/status", {"status": {"phase": "Running"}})
        self.pod_files()
        busy = ["unshare", "--pid", "--fork", "--kill-child", sys.executable, "-c", BUSY]
        (child,) = self.children(self.begin("busy", *busy).pid)
        # Whoever asks at the second one finds a certificate of nobody's.
        self.kubelet(*NODE, self.kube.authority, child)
        self.kubelet(*STRANGER, Authority(), child)

    def children(self, pid: int) -> list[int]:
        found = Path(f"/proc/{pid}/task/{pid}/children")
        while not (text := found.read_text()):
            pass
        return [int(one) for one in text.split()]

    def kubelet(self, name: str, address: str, authority: Authority, pid: int) -> None:
        """The port of a local machine's, whose certificate is the authority's."""
        folder = self.folder / name
        folder.mkdir()
        crt, key = authority.leaf(f"system:node:{name}", ("system:nodes",), address)
        (folder / "serving.pem").write_text(crt + key)
        crt, key = self.kube.authority.leaf(f"system:node:{name}", ("system:nodes",))
        (folder / "client.pem").write_text(crt + key)
        own = Kube(self.kube.url, str(self.folder / "ca.crt"), pair=(folder / "client.pem",))
        pods: Any = Pods(pid)
        served = Served(address, folder / "serving.pem", self.folder / "ca.crt", Callers(own, name), pods)
        port = KubeletPort(served)
        threading.Thread(target=port.serve_forever, daemon=True).start()
        self.stack.callback(port.server_close)
        self.stack.callback(port.shutdown)

    def pod_files(self) -> None:
        """As Kubernetes lays them in each container: this is a mount namespace of the test's own."""
        subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
        Path("/run/lock").mkdir()
        place = Path(TOKEN)
        place.mkdir(parents=True)
        Path(metrics_api.FOLDER).mkdir(parents=True)
        (place / "ca.crt").write_text(self.kube.authority.pem)
        (place / "token").write_text(token(self.kube, SPACE, metrics_api.ADDON, self.kube.issuer))
        (place / "namespace").write_text(SPACE)

    def container(self, name: str) -> Manifest:
        pod = named(self.manifests, "Deployment", metrics_api.ADDON)["spec"]["template"]["spec"]
        (found,) = [one for one in (*pod["initContainers"], *pod["containers"]) if one["name"] == name]
        return dict(found)

    def begin(self, name: str, *words: str) -> "subprocess.Popen[bytes]":
        where = {"KUBERNETES_SERVICE_HOST": HERE, "KUBERNETES_SERVICE_PORT": str(self.kube.port)}
        log = (self.folder / f"{name}.log").open("ab")
        process = subprocess.Popen(
            [*DYING_WITH_US, *words],
            stdout=log,
            stderr=log,
            cwd=ROOT,
            env={**os.environ, **where, "PYTHONPATH": str(ROOT)},
        )
        self.running[name] = process
        return process

    def certificate(self) -> None:
        """The pod's first container, to its end."""
        _, *words = self.container("first-certificate")["command"]
        assert self.begin("certificate", sys.executable, *words).wait(60) == 0, self.log("certificate")

    def serve(self) -> None:
        """Its server."""
        given = self.container(metrics_api.ADDON)
        resolution = f"--metric-resolution={metrics_api.SECONDS}s"
        words = [one.replace(resolution, f"--metric-resolution={SECONDS}s") for one in given["args"]]
        self.begin(metrics_api.ADDON, str(BIN / given["command"][0].strip("/")), *words)

    def end(self, name: str) -> None:
        process = self.running.pop(name)
        process.kill()
        process.wait()

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()[-3000:]

    def kubectl(self, *words: str) -> tuple[int, str]:
        """As system:masters."""
        file = self.folder / "kubeconfig"
        given = {**os.environ, "KUBECONFIG": str(file), "HOME": str(self.folder)}
        done = subprocess.run([BIN / "kubectl", *words], capture_output=True, text=True, check=False, env=given)
        return done.returncode, done.stdout + done.stderr

    def available(self) -> tuple[str, str, str]:
        """Of the APIService: whether, and why."""
        found = self.kube.find(f"/apis/apiregistration.k8s.io/v1/apiservices/{metrics_api.API}") or {}
        told = {one["type"]: one for one in found.get("status", {}).get("conditions", ())}.get("Available", {})
        return told.get("status", ""), told.get("reason", ""), told.get("message", "")

    def down(self) -> None:
        for name in list(self.running):
            self.end(name)
        self.stack.close()
        self.kube.down()


@contextmanager
def top(folder: Path, spec: AddOnsSpec) -> Iterator[Top]:
    made = Top(folder, spec)
    try:
        made.up()
        yield made
    finally:
        with suppress(OSError):
            made.down()


def endpoints() -> Manifest:
    """As controllers make them of the pods of a Service, which are on their node's address."""
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "by-hand",
            "namespace": SPACE,
            "labels": {"kubernetes.io/service-name": metrics_api.ADDON},
        },
        "addressType": "IPv4",
        "ports": [{"name": "https", "port": metrics_api.PORT}],
        "endpoints": [{"addresses": [NODE[1]], "conditions": {"ready": True}}],
    }


def objects() -> Iterator[Manifest]:
    """Nodes, whose kubelets have their usual rights, and a team's pod on one."""
    binding = {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:node"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:nodes"}],
    }
    head = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "nodes"}}
    yield {**head, **binding}
    for name, _ in (NODE, STRANGER):
        yield {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
    yield {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": POD, "namespace": TEAM},
        "spec": {"nodeName": NODE[0], "containers": [{"name": "main", "image": "example.com/a:1"}]},
    }
