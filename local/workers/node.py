"""The Node that a kubelet registers: from its flags, its configuration and its machine. Pure."""

from typing import Any

from .configuration import Configuration, Reserved
from .flags import Flags
from .hardware import GI, Hardware, in_bytes, in_cores

PORT = 10250
# Volumes are attached by their controller: the real one's default.
ANNOTATIONS = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
# The API server hands WebSockets on to nodes that declare it (KEP-4006); one before 1.36 forgets it.
FEATURES = ["ExtendWebSocketsToKubelet"]
# Type → status and reason while all is well; `Ready` comes later, by kwok.
CONDITIONS = {
    "MemoryPressure": ("False", "KubeletHasSufficientMemory"),
    "DiskPressure": ("False", "KubeletHasNoDiskPressure"),
    "PIDPressure": ("False", "KubeletHasSufficientPID"),
    "Ready": ("False", "KubeletNotReady"),
}


def node(flags: Flags, config: Configuration, hardware: Hardware, now: str) -> dict[str, Any]:
    """As it is registered: without devices, which nobody has advertised yet."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": flags.hostname_override,
            "labels": {**own_labels(flags, hardware), **flags.node_labels},
            "annotations": ANNOTATIONS,
        },
        "spec": {"providerID": flags.provider_id, "taints": config.taints},
        "status": {
            **status(flags, config, hardware),
            "conditions": [
                {
                    "type": kind,
                    "status": value,
                    "reason": reason,
                    "message": "this kubelet has just started" if kind == "Ready" else "a local machine has enough",
                    "lastHeartbeatTime": now,
                    "lastTransitionTime": now,
                }
                for kind, (value, reason) in CONDITIONS.items()
            ],
        },
    }


def own_labels(flags: Flags, hardware: Hardware) -> dict[str, str]:
    """Those that each kubelet gives itself."""
    plain = {"os": "linux", "arch": hardware.architecture}
    return {
        "kubernetes.io/hostname": flags.hostname_override,
        **{f"kubernetes.io/{name}": value for name, value in plain.items()},
        **{f"beta.kubernetes.io/{name}": value for name, value in plain.items()},
    }


def status(flags: Flags, config: Configuration, hardware: Hardware) -> dict[str, Any]:
    version = f"v{hardware.kubernetes}"
    return {
        "addresses": [
            {"type": "InternalIP", "address": flags.node_ip},
            {"type": "Hostname", "address": flags.hostname_override},
        ],
        "capacity": capacity(config.most_pods, hardware),
        "allocatable": allocatable(config.most_pods, config.reserved, hardware),
        "declaredFeatures": FEATURES,
        "daemonEndpoints": {"kubeletEndpoint": {"Port": PORT}},
        "nodeInfo": {
            "architecture": hardware.architecture,
            "operatingSystem": "linux",
            "kubeletVersion": version,
            "kubeProxyVersion": "",
            "machineID": flags.hostname_override,
            "systemUUID": flags.hostname_override,
            "bootID": hardware.boot or flags.hostname_override,
            "kernelVersion": "local",
            "osImage": "local machine",
            "containerRuntimeVersion": "local://1",
        },
    }


def capacity(most_pods: int, hardware: Hardware) -> dict[str, str]:
    return _amounts(most_pods, str(hardware.cpus), hardware.memory_bytes, hardware.disk_gib * GI)


def allocatable(most_pods: int, reserved: Reserved, hardware: Hardware) -> dict[str, str]:
    disk = hardware.disk_gib * GI
    return _amounts(
        most_pods,
        in_cores(hardware.cpus - reserved.cpus),
        hardware.memory_bytes - reserved.memory,
        disk - reserved.disk - int(disk * reserved.disk_share),
    )


def _amounts(most_pods: int, cpu: str, memory: int, disk: int) -> dict[str, str]:
    return {
        "cpu": cpu,
        "memory": in_bytes(memory),
        "ephemeral-storage": in_bytes(disk),
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "pods": str(most_pods),
    }
