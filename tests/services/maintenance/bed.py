"""A real API server with nodes and pods that nobody runs, the service as its add-on gives it rights, and a clock to move."""

import json
import time
from functools import partial
from pathlib import Path
from typing import Any

from components.addons import maintenance as addon
from components.addons import queues
from components.addons.definitions import definitions
from components.addons.manifests import rights
from components.pools import labels
from fleet import maintenance
from fleet import maintenance_holds as holds
from fleet.maintenance import stamp
from fleet.model import Maintenance
from kube_http import Kube
from services.maintenance import nodes, steps
from services.maintenance.keeper import Keeper
from services.maintenance.settings import Settings
from tests.components.addons.bed import Applying
from tests.components.addons.cloud import token
from tests.components.pools.joining_client import eventually
from tests.support.apiserver import Server

SPACE = "team-lab"
Json = dict[str, Any]
HOUR = 3600.0


class Bed:
    """`at` is the service's time; it looks when it is told to. `said` are its own lines."""

    def __init__(self, server: Server, folder: Path, told: Maintenance, space: str = SPACE) -> None:
        self.server, self.folder, self.told, self.space = server, folder, told, space
        self.at, self.why_frozen = float(int(time.time())), ""
        self.said: list[str] = []
        applied = Applying(server)
        for one in (
            addon.definition(),
            *addon.policy(told.postpone),
            *({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": one}} for one in (space, holds.SPACE)),
            *rights(addon.ADDON, addon.ADDON, addon.everywhere(), addon.here()),
            *(
                one
                for one in definitions(queues.GROUP, queues.ADDON)
                if one["metadata"]["name"].startswith("workloads.")
            ),
            *addon.holding(),
        ):
            applied(one)
        (folder / "token").write_text(token(server, "kube-system", addon.ADDON, server.issuer))
        (folder / "ca.crt").write_text(server.authority.pem)
        for path in (maintenance.PATH, holds.PATH):
            eventually(partial(server.find, path))
        self.keeper = self.another()

    def another(self) -> Keeper:
        """As after a kill: nothing is known but what stands in the cluster."""
        kube = Kube(
            self.server.url, str(self.folder / "ca.crt"), token=lambda: (self.folder / "token").read_text().strip()
        )
        told = Settings(cluster="main", maintenance=self.told, fills=-10, queued=("lab",))
        self.keeper = Keeper(kube, told, lambda: self.why_frozen, self.said.append, lambda: self.at)
        return self.keeper

    def look(self, times: int = 1) -> None:
        for _ in range(times):
            for path, known, read in (
                (maintenance.PATH, self.keeper.plans, maintenance.read),
                (nodes.PATH, self.keeper.nodes, nodes.read),
            ):
                found, _ = self.keeper.kube.list(path, read)
                self.keeper.listed(known, found)
            self.keeper.step()

    def pass_(self, seconds: float, times: int = 3) -> None:
        self.at += seconds
        self.look(times)

    def looked(self) -> None:
        """Machines that were worked on have looked at themselves."""
        self.look(3)
        self.pass_(steps.LOOKED_SECONDS)

    def call(self, method: str, path: str, body: Json | None = None) -> Json:
        return self.server.api.call(method, path, {}, body)

    def node(self, name: str, pool: str = "site-gpu", place: str = "lab", *, ready: bool = True, gpus: int = 0) -> None:
        about = {labels.POOL: pool, labels.PLACE: place, labels.ZONE: place}
        self.call("POST", nodes.PATH, {"metadata": {"name": name, "labels": about}, "spec": {}})
        self.is_ready(name, ready=ready)
        if gpus:
            has = {"nvidia.com/gpu": str(gpus)}
            self.server.patch(f"{nodes.PATH}/{name}/status", {"status": {"capacity": has, "allocatable": has}})

    def is_ready(self, name: str, *, ready: bool) -> None:
        now = stamp(time.time())
        told = {"type": "Ready", "status": str(ready), "reason": "Test", "lastHeartbeatTime": now}
        path = f"{nodes.PATH}/{name}/status"
        kind = "application/strategic-merge-patch+json"
        self.server.api.call("PATCH", path, {}, {"status": {"conditions": [told]}}, kind)

    def pod(self, name: str, node: str, *, priority: int = 0, grace: int = 0) -> None:
        spec: Json = {
            "nodeName": node,
            "terminationGracePeriodSeconds": grace,
            "containers": [{"name": "train", "image": "example.com/train:1"}],
        }
        meta: Json = {"name": name, "namespace": self.space, "labels": {"app": name}}
        if priority:
            meta["annotations"] = {"test": "fills"}
            spec["priorityClassName"] = f"p{-priority}"
        made = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
        self.call("POST", f"/api/v1/namespaces/{self.space}/pods", made)
        self.server.patch(f"/api/v1/namespaces/{self.space}/pods/{name}/status", {"status": {"phase": "Running"}})

    def ends(self, name: str) -> None:
        self.server.patch(f"/api/v1/namespaces/{self.space}/pods/{name}/status", {"status": {"phase": "Succeeded"}})

    def budget(self, name: str, app: str) -> None:
        """That lets nothing of it go."""
        spec = {"maxUnavailable": 0, "selector": {"matchLabels": {"app": app}}}
        made = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": spec}
        self.call("POST", f"/apis/policy/v1/namespaces/{self.space}/poddisruptionbudgets", made)

    def plan(
        self, name: str, target: str, *, after: float, source: str = "operator", hours: float = 1, **more: Any
    ) -> None:
        """`after` is in seconds from now."""
        kind, _, which = target.partition("/")
        start = self.at + after
        spec = {
            "source": source,
            "target": {"kind": kind, "name": which},
            "why": "new NIC",
            "start": stamp(start),
            "end": stamp(start + hours * HOUR),
            "noticeSeconds": 3600,
            "closedSeconds": 3600,
            **more,
        }
        made = {"apiVersion": maintenance.API, "kind": maintenance.KIND, "metadata": {"name": name}, "spec": spec}
        self.call("POST", maintenance.PATH, made)

    def change(self, name: str, **spec: Any) -> None:
        self.server.patch(f"{maintenance.PATH}/{name}", {"spec": spec})

    def phases(self, name: str) -> dict[str, str]:
        found = self.call("GET", f"{maintenance.PATH}/{name}").get("status", {}).get("nodes", {})
        return {node: one["phase"] for node, one in found.items()}

    def names(self) -> list[str]:
        return sorted(one["metadata"]["name"] for one in self.call("GET", maintenance.PATH)["items"])

    def why(self, name: str, node: str) -> str:
        found = self.call("GET", f"{maintenance.PATH}/{name}")["status"]["nodes"][node]
        return str(found.get("why", ""))

    def on(self, node: str) -> nodes.Node:
        return nodes.read(self.call("GET", f"{nodes.PATH}/{node}"))

    def held(self) -> list[str]:
        return sorted(one["metadata"]["name"] for one in self.call("GET", holds.PATH)["items"])

    def there(self) -> list[str]:
        """Pods that are, and do not leave."""
        found = self.call("GET", f"/api/v1/namespaces/{self.space}/pods")["items"]
        return sorted(one["metadata"]["name"] for one in found if "deletionTimestamp" not in one["metadata"])

    def told_of(self, pod: str) -> Json:
        """What its program may read."""
        meta = self.call("GET", f"/api/v1/namespaces/{self.space}/pods/{pod}")["metadata"]
        found: Json = json.loads((meta.get("annotations") or {}).get(maintenance.ANNOTATION) or "{}")
        return found

    def events(self, pod: str) -> list[str]:
        found = self.call("GET", f"/api/v1/namespaces/{self.space}/events")["items"]
        return [one["reason"] for one in found if one["involvedObject"]["name"] == pod]

    def clear(self) -> None:
        """For the next test."""
        for path in (
            maintenance.PATH,
            f"/apis/policy/v1/namespaces/{self.space}/poddisruptionbudgets",
            f"/api/v1/namespaces/{self.space}/events",
            holds.PATH,
        ):
            self.call("DELETE", path)
        self.server.api.call("DELETE", f"/api/v1/namespaces/{self.space}/pods", {"gracePeriodSeconds": "0"})
        self.call("DELETE", nodes.PATH)
        self.why_frozen = ""
        self.said.clear()
        self.another()
