"""What the API is told of one pod that the kubelet runs itself, and what it has of it."""

import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from kube_http import STRATEGIC, Kube

from . import status
from .overlay import Overlay
from .pod_container import PodContainer, stamp

Json = dict[str, Any]


class Node(NamedTuple):
    """Where pods are: `folder` has their volumes, `logs` what they say; `domain` is that of the cluster's names."""

    api: Kube
    name: str
    address: str
    folder: Path
    logs: Path
    domain: str
    overlay: Overlay


class Report:
    """`meta` and `stored` are the API's own, `sent` what was last told of the status; empty if it must be told anew.

    `verdict` is the reason and message of a pod that its kubelet ends.
    """

    def __init__(self, node: Node, pod: Json) -> None:
        self.node, self.meta = node, pod["metadata"]
        self.stored: Json = pod.get("status") or {}
        self.sent: Json = {}
        self.verdict: dict[str, str] = {}
        self.born = stamp()
        # An earlier kubelet's word, or that of those who evict: nothing is added to it.
        self.closed = self.stored.get("phase") in status.FINAL

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.meta['namespace']}/pods/{self.meta['name']}"

    def deadline(self, seconds: int | None) -> float | None:
        """When it has been on the node for so long, by the monotonic clock, since an earlier kubelet's start."""
        if seconds is None:
            return None
        started = datetime.fromisoformat(self.stored.get("startTime") or self.born).timestamp()
        return time.monotonic() + started + seconds - time.time()

    def hear(self, pod: Json) -> None:
        self.stored, self.meta = pod.get("status") or {}, pod["metadata"]
        # Others may have written it, such as the controllers of a node that was out of sight.
        if self.sent and status.overwritten(self.sent, self.stored):
            self.sent = {}

    def send(self, containers: Sequence[PodContainer], *, laid: bool, ended: bool, trouble: str, own: str) -> None:
        """`own` is its address. Raises OSError, Answer."""
        if self.closed:
            return
        made = status.status(
            containers,
            self.stored,
            laid=laid and not ended,
            stopping=ended,
            trouble=trouble,
            verdict=self.verdict,
            address=self.node.address,
            own=own,
            started=self.born,
            now=stamp(),
        )
        if made != self.sent:
            patch = {"metadata": {"uid": self.meta["uid"]}, "status": made}
            found = self.node.api.ask("PATCH", f"{self.path}/status", patch, STRATEGIC)
            self.sent, self.stored = made, found["status"]

    def delete(self) -> None:
        """The pod has ended: its object may go. Raises OSError, Answer."""
        only = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": self.meta["uid"]}}
        self.node.api.ask("DELETE", self.path, {**only, "gracePeriodSeconds": 0})
