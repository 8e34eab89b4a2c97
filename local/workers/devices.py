"""Devices of a node: there while their plugin runs on it, as with the real one, and not a moment longer."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kube_http import STRATEGIC, Json, Kube

from .hardware import Hardware
from .unit import say

NAMESPACE = "kube-system"
NAME = "app.kubernetes.io/name"


class Devices(NamedTuple):
    """Of one kind: the resource, the label of the plugin's pods, and how many there are."""

    resource: str
    plugin: tuple[str, str]
    number: int


def of(hardware: Hardware) -> Iterator[Devices]:
    """What the machine has. components/pools/labels.py has the same names: a test compares."""
    for resource, plugin, count in (
        ("nvidia.com/gpu", "nvidia-device-plugin", hardware.gpus),
        ("vpc.amazonaws.com/efa", "aws-efa-device-plugin", hardware.efa),
        ("rdma/hca", "rdma-shared-device-plugin", hardware.rdma),
    ):
        if count:
            yield Devices(resource, (NAME, plugin), count)


def runs(pod: Json) -> bool:
    conditions = {one["type"]: one["status"] for one in pod.get("status", {}).get("conditions") or []}
    return pod["status"].get("phase") == "Running" and conditions.get("Ready") == "True"


class Advertised:
    """What the node tells of one kind of devices."""

    def __init__(self, api: Kube, node: str, devices: Devices) -> None:
        self.api, self.node, self.devices = api, node, devices
        self.plugins: set[str] = set()
        self.reported: int | None = None

    def listed(self, pods: Iterable[Json]) -> None:
        """All pods of the node. Raises OSError, Answer, as `heard` does."""
        self.plugins = {pod["metadata"]["uid"] for pod in pods if self.concerns(pod) and runs(pod)}
        self.tell()

    def heard(self, kind: str, pod: Json) -> None:
        """A change of one of them."""
        if self.concerns(pod):
            change = self.plugins.add if kind != "DELETED" and runs(pod) else self.plugins.discard
            change(pod["metadata"]["uid"])
            self.tell()

    def concerns(self, pod: Json) -> bool:
        meta, (label, plugin) = pod["metadata"], self.devices.plugin
        return meta["namespace"] == NAMESPACE and (meta.get("labels") or {}).get(label) == plugin

    def tell(self) -> None:
        count = self.devices.number if self.plugins else 0
        # Before the first plugin nothing is said of its devices at all.
        if count == self.reported or (self.reported is None and not count and not self.known()):
            return
        # None left is a 0 that stays, as the real kubelet leaves it.
        status = {part: {self.devices.resource: str(count)} for part in ("capacity", "allocatable")}
        self.api.ask("PATCH", f"/api/v1/nodes/{self.node}/status", {"status": status}, STRATEGIC)
        self.reported = count
        say(f"advertises {count} of {self.devices.resource}")

    def known(self) -> bool:
        """Whether the node tells of them from before this program's start."""
        return self.devices.resource in self.api.ask("GET", f"/api/v1/nodes/{self.node}")["status"]["capacity"]
