"""Which pods of a cluster are work: commands and services wait for these, and move no others."""

from collections.abc import Mapping
from typing import Any

# Pods that have ended hold nothing; a mirror pod is a file of the machine's own.
ENDED, MIRROR = ("Succeeded", "Failed"), "kubernetes.io/config.mirror"


def works(pod: Mapping[str, Any]) -> bool:
    """Not a DaemonSet's, not a machine's own, and not ended."""
    meta = pod["metadata"]
    daemon = any(one["kind"] == "DaemonSet" and one.get("controller") for one in meta.get("ownerReferences") or ())
    ended = (pod.get("status") or {}).get("phase") in ENDED
    return not daemon and MIRROR not in (meta.get("annotations") or {}) and not ended
