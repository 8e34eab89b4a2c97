"""Workloads of add-ons that end: Pulumi does not wait for their pods, and goes on before they are gone."""

import time
from collections.abc import Sequence

from .kube import Kube
from .waiting import Tell

KINDS = "daemonsets.apps,deployments.apps"
# Pods have half a minute to end; a node that is out of sight never ends its own.
SECONDS, PAUSE_SECONDS = 120.0, 2.0


def ending(kube: Kube) -> list[str]:
    """Those that are deleted and still there, since pods of theirs are, as `namespace/name`. Raises KubeError."""
    found = (one["metadata"] for one in kube.get(KINDS, "--all-namespaces")["items"])
    return sorted(f"{one['namespace']}/{one['name']}" for one in found if one.get("deletionTimestamp"))


def await_end(kube: Kube, tell: Tell, seconds: float = SECONDS) -> Sequence[str]:
    """Waits until none is left; gives those that are when time is up. Raises KubeError, and what `tell` raises."""
    deadline = time.monotonic() + seconds
    while (left := ending(kube)) and time.monotonic() < deadline:
        tell(f"pods of {', '.join(left)} end")
        time.sleep(PAUSE_SECONDS)
    return left
