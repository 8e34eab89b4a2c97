"""GPUs of a site's hosts on which nothing new may begin: to Kueue they are held, so that no run waits for such a host.

A hold is a Workload of Kueue's without pods, in a queue of its own, which takes free GPUs of the place before any team.
"""

from collections.abc import Mapping
from typing import Any

from .maintenance import ACCOUNT, GROUP

API, QUEUE = "kueue.x-k8s.io/v1beta2", "maintenance"
# Not a team's: those have no dot.
CLUSTER_QUEUE = f"{QUEUE}.{GROUP}"
SPACE = "landbridge-runs"
PATH = f"/apis/{API}/namespaces/{SPACE}/workloads"
GPUS, PLACE = "nvidia.com/gpu", f"{GROUP}/place"
MADE_BY = {"app.kubernetes.io/managed-by": "landbridge", "app.kubernetes.io/name": ACCOUNT}
READY = "PodsReady"


def name(node: str) -> str:
    return f"{ACCOUNT}-{node}"


def manifest(node: str, place: str, gpus: int) -> dict[str, Any]:
    container = {"name": "nothing", "image": "none", "resources": {"requests": {GPUS: str(gpus)}}}
    spec = {"containers": [container], "nodeSelector": {PLACE: place}, "restartPolicy": "Never"}
    return {
        "apiVersion": API,
        "kind": "Workload",
        "metadata": {"name": name(node), "namespace": SPACE, "labels": MADE_BY},
        "spec": {"queueName": QUEUE, "podSets": [{"name": "main", "count": 1, "template": {"spec": spec}}]},
    }


def true(workload: Mapping[str, Any], kind: str) -> bool:
    told = (workload.get("status") or {}).get("conditions") or []
    return any(one["type"] == kind and one["status"] == "True" for one in told)


def ready(workload: Mapping[str, Any], now: str) -> dict[str, Any]:
    """To be applied to the status: it has no pods that could be, and Kueue takes back what is not ready in time."""
    condition = {
        "type": READY,
        "status": "True",
        "reason": "NoPods",
        "message": "it holds GPUs of a host with maintenance",
        "lastTransitionTime": now,
    }
    return {
        "apiVersion": API,
        "kind": "Workload",
        "metadata": {"name": workload["metadata"]["name"], "namespace": SPACE},
        "status": {"conditions": [condition]},
    }
