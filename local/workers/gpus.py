"""GPUs of a node: there while the device plugin runs on it, as with the real one, and not a moment longer."""

import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from .api import STRATEGIC, Api, Json, Refused
from .node import GPUS
from .unit import say

PODS = "/api/v1/namespaces/kube-system/pods"
# components/pools/labels.py has the same: a test compares.
PLUGIN = ("app.kubernetes.io/name", "nvidia-device-plugin")
PAUSE_SECONDS = 2.0


def runs(pod: Json) -> bool:
    conditions = {one["type"]: one["status"] for one in pod.get("status", {}).get("conditions") or []}
    return pod["status"].get("phase") == "Running" and conditions.get("Ready") == "True"


def advertised(count: int) -> Json:
    """Status to be merged. None left is a 0 that stays, as the real kubelet leaves it."""
    return {"status": {part: {GPUS: str(count)} for part in ("capacity", "allocatable")}}


class Gpus:
    def __init__(self, api: Api, node: str, count: int) -> None:
        self.api, self.node, self.count = api, node, count
        self.plugins: set[str] = set()
        self.told: int | None = None

    def run(self) -> None:
        """For ever."""
        while True:
            try:
                self.follow()
            except (OSError, Refused) as error:
                say(f"the device plugin's pods: {error}")
                time.sleep(PAUSE_SECONDS)

    def follow(self) -> None:
        asked = {"fieldSelector": f"spec.nodeName={self.node}", "labelSelector": "=".join(PLUGIN)}
        listed = self.api.ask("GET", f"{PODS}?{urlencode(asked)}")
        self.plugins = {pod["metadata"]["uid"] for pod in listed["items"] if runs(pod)}
        self.tell()
        for kind, pod in self.api.watch(PODS, listed["metadata"]["resourceVersion"], **asked):
            change: Callable[[Any], None] = (
                self.plugins.add if kind != "DELETED" and runs(pod) else self.plugins.discard
            )
            change(pod["metadata"]["uid"])
            self.tell()

    def tell(self) -> None:
        count = self.count if self.plugins else 0
        # Before the first plugin nothing is said of GPUs at all.
        if count == self.told or (self.told is None and not count and not self.known()):
            return
        self.api.ask("PATCH", f"/api/v1/nodes/{self.node}/status", advertised(count), STRATEGIC)
        self.told = count
        say(f"advertises {count} GPUs")

    def known(self) -> bool:
        """Whether the node tells of GPUs from before this program's start."""
        return GPUS in self.api.ask("GET", f"/api/v1/nodes/{self.node}")["status"]["capacity"]
