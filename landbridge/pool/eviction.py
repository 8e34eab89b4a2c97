"""Pods that leave a node by eviction alone: their budgets hold, their grace counts, and nothing is deleted by force."""

import json
from collections.abc import Mapping
from typing import Any

from components.addons.priorities import BUYS_FROM
from fleet.work import works
from landbridge.cluster.kube import Kube

from .usage import Pod

# What the autoscaler moves at any time, too.
MOVABLE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
# In the API's words: no pod has the name, or one with another uid.
GONE = ("NotFound", "not found", "UID in the precondition", "UID in precondition")


def name(pod: Pod) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def matters(pod: Pod) -> bool:
    """Whether its machine may not just end under it: pods that only hold a place or fill gaps do not."""
    return works(pod) and int(pod["spec"].get("priority") or 0) > BUYS_FROM


def movable(pod: Pod) -> bool:
    """Whether its owner has said that it may be evicted at any time."""
    return (pod["metadata"].get("annotations") or {}).get(MOVABLE) == "true"


def leaving(pod: Pod) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def evict(kube: Kube, pod: str, uid: str) -> str:
    """NAMESPACE/NAME is asked to leave; why it may not now, empty if it goes or has gone.

    Only the one that was seen: another of its name, as of a StatefulSet, runs on another machine by now.
    """
    namespace, _, alone = pod.partition("/")
    body: Mapping[str, Any] = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": alone, "namespace": namespace},
        "deleteOptions": {"preconditions": {"uid": uid}},
    }
    path = f"/api/v1/namespaces/{namespace}/pods/{alone}/eviction"
    result = kube.run("create", f"--raw={path}", "--filename=-", stdin=json.dumps(body))
    return "" if result.code == 0 or any(words in result.err for words in GONE) else result.why
