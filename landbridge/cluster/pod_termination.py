"""Workloads of add-ons that end: Pulumi does not wait for their pods, and goes on before they are gone."""

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .kube import Kube
from .waiting import Tell

KINDS = "daemonsets.apps,deployments.apps"
TYPES = ("kubernetes:apps/v1:DaemonSet", "kubernetes:apps/v1:Deployment")
# Pods have half a minute to end; a node that is out of sight never ends its own.
SECONDS, PAUSE_SECONDS = 120.0, 2.0


def workloads(state: Mapping[str, Any] | None) -> frozenset[str]:
    """Those of a stack, as `namespace/name`: their ids in its state."""
    found = (state or {}).get("resources") or ()
    return frozenset(one["id"] for one in found if one["type"] in TYPES and one.get("id"))


def terminating(kube: Kube, among: Collection[str]) -> list[str]:
    """Those that are deleted and still there, since pods of theirs are. Raises KubeError."""
    found = (one["metadata"] for one in kube.get(KINDS, "--all-namespaces")["items"])
    names = (f"{one['namespace']}/{one['name']}" for one in found if one.get("deletionTimestamp"))
    return sorted(set(among).intersection(names))


def await_end(kube: Kube, among: Collection[str], tell: Tell, seconds: float = SECONDS) -> Sequence[str]:
    """Waits until none is left; gives those that are when time is up. Raises KubeError, and what `tell` raises."""
    deadline = time.monotonic() + seconds
    while (left := terminating(kube, among)) and time.monotonic() < deadline:
        tell(f"pods of {', '.join(left)} end")
        time.sleep(PAUSE_SECONDS)
    return left
