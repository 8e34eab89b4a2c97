"""The cluster's nodes as this service knows them: a few facts of each, kept up to date by a watch."""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from kube_http import Json

PATH = "/api/v1/nodes"
POOL_LABEL, PLACE_LABEL = "landbridge.dev/pool", "landbridge.dev/place"
GPUS = "nvidia.com/gpu"


class Node(NamedTuple):
    """`gpus` are those that can be given to pods; `taints` as they stand in the object."""

    name: str
    uid: str
    version: str
    pool: str
    place: str
    address: str
    ready: bool
    gpus: int
    taints: tuple[tuple[tuple[str, str], ...], ...]

    def has(self, key: str) -> bool:
        return any(("key", key) in taint for taint in self.taints)


def read(thing: Json) -> Node:
    meta, spec, status = thing["metadata"], thing.get("spec") or {}, thing.get("status") or {}
    labels = meta.get("labels") or {}
    conditions = {one.get("type"): one.get("status") for one in status.get("conditions") or []}
    addresses = {one.get("type"): one.get("address") for one in status.get("addresses") or []}
    return Node(
        name=meta["name"],
        uid=meta["uid"],
        version=meta["resourceVersion"],
        pool=labels.get(POOL_LABEL, ""),
        place=labels.get(PLACE_LABEL, ""),
        address=addresses.get("InternalIP") or "",
        ready=conditions.get("Ready") == "True",
        gpus=_count((status.get("allocatable") or {}).get(GPUS)),
        taints=tuple(tuple(sorted(taint.items())) for taint in spec.get("taints") or []),
    )


def _count(quantity: Any) -> int:
    """GPUs are whole; a quantity in another form is none."""
    text = str(quantity)
    return int(text) if text.isascii() and text.isdigit() else 0


class Nodes:
    def __init__(self, changed: Callable[[Node], None]) -> None:
        self.lock, self.known = threading.Lock(), dict[str, Node]()
        self.addresses: dict[str, str] = {}
        self.complete = threading.Event()
        self.tell = changed

    def listed(self, found: list[Node]) -> None:
        with self.lock:
            self.known = {node.name: node for node in found}
            self.addresses = {node.address: node.name for node in found if node.address}
        self.complete.set()
        for node in found:
            self.tell(node)

    def changed(self, kind: str, thing: Json) -> None:
        node = read(thing)
        with self.lock:
            before = self.known.pop(node.name, None)
            if before and self.addresses.get(before.address) == node.name:
                del self.addresses[before.address]
            if kind == "DELETED":
                return
            self.known[node.name] = node
            if node.address:
                self.addresses.setdefault(node.address, node.name)
        if before is None or before._replace(version="") != node._replace(version=""):
            self.tell(node)

    def all(self) -> list[Node]:
        with self.lock:
            return list(self.known.values())

    def owner(self, address: str) -> str | None:
        with self.lock:
            return self.addresses.get(address)
