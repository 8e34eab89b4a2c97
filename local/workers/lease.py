"""A node's heartbeat: its lease, renewed four times in its duration, as the real kubelet does."""

import time
from datetime import UTC, datetime
from typing import Any

from kube_http import Answer, Json, Kube

from .unit import say

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


class Lease:
    def __init__(self, api: Kube, node: Json, seconds: int) -> None:
        self.api, self.node, self.seconds = api, node, seconds
        self.held: Any = None

    def run(self) -> None:
        """For ever."""
        reported = ""
        while True:
            problem = ""
            try:
                self.renew()
            except (OSError, Answer) as error:
                problem, self.held = str(error), None
            if problem and problem != reported:
                say(f"its lease: {problem}")
            reported = problem
            time.sleep(self.seconds / 4)

    def renew(self) -> None:
        meta = self.node["metadata"]
        name = meta["name"]
        if self.held is None:
            try:
                self.held = self.api.ask("GET", f"{LEASES}/{name}")
            except Answer as answer:
                if answer.status != 404:
                    raise
                owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": meta["uid"]}
                thing = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
                thing["metadata"] = {"name": name, "namespace": "kube-node-lease", "ownerReferences": [owner]}  # type: ignore[assignment]
                self.held = self.api.ask("POST", LEASES, {**thing, "spec": self.spec()})
                return
        self.held = self.api.ask("PUT", f"{LEASES}/{name}", {**self.held, "spec": self.spec()})

    def spec(self) -> Json:
        return {
            "holderIdentity": self.node["metadata"]["name"],
            "leaseDurationSeconds": self.seconds,
            "renewTime": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",
        }
