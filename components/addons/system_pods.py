"""Pods of controllers that lead a cluster: on system machines, each replica on a host of its own, as nobody."""

from typing import Any

from components.pools import labels

from .gpu import tolerated
from .images import SERVICES
from .manifests import CLUSTER_CRITICAL, Manifest, apart, chosen, container, get, spread

# One leads, and the other waits for its lease.
REPLICAS, NOBODY = 2, 65534
# Of the pod's service account, where Kubernetes lays it in each container.
TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105
POD_NAME = {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
# Of each container.
NARROW = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}


def system_pod(addon: str, **more: Any) -> Manifest:
    """`addon` is the name of its workload and of its account, too."""
    pods = chosen(addon, addon)
    return {
        "serviceAccountName": addon,
        "priorityClassName": CLUSTER_CRITICAL,
        "nodeSelector": {labels.KIND: "system"},
        "tolerations": [tolerated(labels.SYSTEM)],
        "affinity": apart(pods),
        "topologySpreadConstraints": [spread(pods)],
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": NOBODY,
            "runAsGroup": NOBODY,
            # Tokens and keys are files of this group.
            "fsGroup": NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        **more,
    }


def alive(port: int, name: str = "metrics") -> Manifest:
    """Of a container: its port with /metrics and /healthz. Python takes seconds to come up on a busy machine."""
    healthy = get(port, "/healthz", "")
    return {
        "ports": [{"name": name, "containerPort": port}],
        "startupProbe": {**healthy, "periodSeconds": 2, "failureThreshold": 60},
        "livenessProbe": {**healthy, "periodSeconds": 10, "timeoutSeconds": 5, "failureThreshold": 3},
    }


def ours(name: str, cpu: str, memory: str, command: list[str], **more: Any) -> Manifest:
    """A container of an image that is on the machine, or nowhere."""
    own = {"imagePullPolicy": "Never", "securityContext": NARROW}
    return container(name, SERVICES, cpu, memory, command=command, **own, **more)
