"""Real Kueue and JobSet on an API server, as the add-ons give them rights and settings; and runs of teams in queues.

Webhooks are left out: tests/stacks/test_addons.py has them, where they find their way from a real control plane.
"""

import base64
import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from components.addons import controllers, gangs, jobset, kueue, queues, teams
from components.addons.manifests import Manifest
from components.addons.spec import AddOnsSpec, addons_spec
from fleet.team_storage import namespace
from fleet.world import World
from local.providers.kubernetes.api import ApiError
from tests.components.addons import bed
from tests.components.addons.asked import Asked
from tests.support.apiserver import HERE, Server, free_port

WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
GROUPS = ("system:serviceaccounts", f"system:serviceaccounts:{controllers.SPACE}", "system:authenticated")
WORKLOADS = f"/apis/{queues.API}/workloads"


class Queueing:
    """`spec` is the cluster's. Its machines are not there: what is admitted has pods that wait."""

    def __init__(self, server: Server, spec: AddOnsSpec) -> None:
        self.server, self.spec, self.apply = server, spec, bed.Applying(server)
        self.folder = server.folder
        # Controller → what it asks of the API, and how much of that before there was a run.
        self.asked: dict[str, Asked] = {}
        self.at_start: dict[str, int] = {}

    def install(self) -> None:
        for team in self.spec.fleet.teams:
            labels = {teams.TEAM: team}
            self.apply(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace(team), "labels": labels}}
            )
        self.apply(gangs.definition("autoscaler"))
        for manifest in (*kueue.manifests(self.spec), *jobset.manifests(self.spec), *queues.manifests(self.spec)):
            if manifest["kind"] not in WEBHOOKS:
                self.apply(manifest)

    def start(self, addon: str, **other: Any) -> None:
        """With the rights of its service account, and the settings of its ConfigMap but for `other` and where it listens."""
        folder = self.folder / addon
        (folder / "certificates").mkdir(parents=True, exist_ok=True)
        space = f"/api/v1/namespaces/{controllers.SPACE}"
        stored = self.server.find(f"{space}/configmaps/{addon}")
        assert stored is not None
        config = {**json.loads(stored["data"][controllers.FILE]), **other}
        config["health"]["healthProbeBindAddress"] = f"{HERE}:{free_port()}"
        config["webhook"] = {"port": free_port(), "host": HERE, "certDir": str(folder / "certificates")}
        if addon == jobset.ADDON:
            # Outside of a pod it does not know its namespace.
            config["internalCertManagement"] = {"enable": False}
            certificate, key = self.server.authority.leaf("webhook")
            (folder / "certificates/tls.crt").write_text(certificate)
            (folder / "certificates/tls.key").write_text(key)
        (folder / controllers.FILE).write_text(json.dumps(config))
        asked = Asked(self.server, folder, f"system:serviceaccount:{controllers.SPACE}:{addon}", GROUPS)
        self.asked[addon] = asked
        told = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": asked.address}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": ""}}],
            "current-context": "c",
        }
        (folder / "kubeconfig").write_text(json.dumps(told))
        self.server.start(addon, f"--config={folder}/{controllers.FILE}", f"--kubeconfig={folder}/kubeconfig")

    def log(self, addon: str) -> str:
        return (self.folder / f"{addon}.log").read_text()

    def lay_certificates(self) -> None:
        """As the kubelet lays a Secret into a volume."""
        path = f"/api/v1/namespaces/{controllers.SPACE}/secrets/{kueue.SERVER.secret}"
        data = (self.server.find(path) or {}).get("data") or {}
        folder = self.folder / kueue.ADDON / "certificates"
        for name, value in data.items():
            file = folder / name
            if folder.is_dir() and (not file.exists() or file.read_bytes() != base64.b64decode(value)):
                file.write_bytes(base64.b64decode(value))

    def run(self, team: str, name: str, hosts: int, gpus: int = 8, priority: str = "normal") -> None:
        """A Job of so many machines, all of them or none."""
        labels = {queues.QUEUE_LABEL: queues.QUEUE, queues.PRIORITY_LABEL: priority}
        meta = {"name": name, "namespace": namespace(team), "labels": labels}
        made = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": meta,
            "spec": {"suspend": True, **job(hosts, gpus)},
        }
        self.server.api.call("POST", f"/apis/batch/v1/namespaces/{namespace(team)}/jobs", {}, made)

    def run_parts(self, team: str, name: str, parts: Mapping[str, int], priority: str = "normal") -> None:
        """A JobSet as its webhooks would leave it; `parts` are hosts by name."""
        version = f"{jobset.GROUP}/{jobset.VERSION}"
        labels = {queues.QUEUE_LABEL: queues.QUEUE, queues.PRIORITY_LABEL: priority}
        spec = {
            "suspend": True,
            "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
            "successPolicy": {"operator": "All"},
            "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
            "replicatedJobs": [
                {"name": part, "replicas": 1, "groupName": "default", "template": {"spec": job(hosts, 8)}}
                for part, hosts in parts.items()
            ],
        }
        meta = {"name": name, "namespace": namespace(team), "labels": labels}
        made = {"apiVersion": version, "kind": "JobSet", "metadata": meta, "spec": spec}
        self.server.api.call("POST", f"/apis/{version}/namespaces/{namespace(team)}/jobsets", {}, made)

    def workloads(self) -> dict[str, Manifest]:
        """By the name of what they are of. Holds of maintenance are of nothing."""
        found = self.server.api.call("GET", WORKLOADS)["items"]
        return {owners[0]["name"]: one for one in found if (owners := one["metadata"].get("ownerReferences"))}

    def admitted(self) -> dict[str, str]:
        """Run → its place, of those that may begin."""
        return {
            name: place for name, one in self.workloads().items() if true(one, "Admitted") and (place := where(one))
        }

    def waits(self, name: str) -> str:
        """What Kueue says of a run that waits."""
        return condition(self.workloads()[name], "QuotaReserved").get("message", "")


def job(hosts: int, gpus: int) -> Manifest:
    """A Job's spec: a pod a host."""
    limits = {"cpu": "1", "nvidia.com/gpu": str(gpus)}
    container = {"name": "train", "image": "example.com/train:1", "resources": {"limits": limits}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    each = {"parallelism": hosts, "completions": hosts, "completionMode": "Indexed", "backoffLimit": 0}
    return {**each, "template": template}


def condition(workload: Manifest, kind: str) -> dict[str, Any]:
    found = workload.get("status", {}).get("conditions") or []
    return next((one for one in found if one["type"] == kind), {})


def true(workload: Manifest, kind: str) -> bool:
    return condition(workload, kind).get("status") == "True"


def where(workload: Manifest) -> str:
    """The place of its GPUs; empty while it has none."""
    admission = workload.get("status", {}).get("admission") or {}
    places = {parts["flavors"]["nvidia.com/gpu"] for parts in admission.get("podSetAssignments") or []}
    assert len(places) <= 1, "one run is in one place"
    return next(iter(places), "")


@contextlib.contextmanager
def running(server: Server, world: World, cluster: str = "main") -> Iterator[Queueing]:
    made = Queueing(server, addons_spec(world.fleet, world.plan, cluster))
    over = threading.Event()

    def lay() -> None:
        while not over.wait(0.5):
            with contextlib.suppress(ApiError):
                made.lay_certificates()

    made.install()
    thread = threading.Thread(target=lay, daemon=True)
    thread.start()
    try:
        for addon in (kueue.ADDON, jobset.ADDON):
            made.start(addon)
        yield made
    finally:
        over.set()
        thread.join()


def settled(look: Callable[[], Any], seconds: float = 3.0) -> Any:
    """What it gives once that has not changed for so long."""
    since, last = time.monotonic(), look()
    while time.monotonic() - since < seconds:
        time.sleep(0.2)
        if (now := look()) != last:
            since, last = time.monotonic(), now
    return last
