"""KubeletConfiguration as pools' bundles have it: what the stand-in lives by, and what only containers would feel.

A field of neither list is an error, as an unknown one is to the real kubelet: it may change what a node looks like.
"""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from .hardware import amount

HEAD = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
LIVED_BY = {
    "authentication",
    "authorization",
    "clusterDomain",
    "containerRuntimeEndpoint",
    "evictionHard",
    "kubeReserved",
    "maxPods",
    "nodeLeaseDurationSeconds",
    "registerNode",
    "registerWithTaints",
    "rotateCertificates",
    "serverTLSBootstrap",
    "systemReserved",
}
# Of cgroups, images, volumes and how much is asked at once: local machines have none of them, or have it otherwise.
WITHOUT_EFFECT = {
    "cgroupDriver",
    "clusterDNS",
    "enforceNodeAllocatable",
    "eventRecordQPS",
    "kubeAPIBurst",
    "kubeAPIQPS",
    "maxParallelImagePulls",
    "nodeStatusReportFrequency",
    "podPidsLimit",
    "protectKernelDefaults",
    "registryBurst",
    "registryPullQPS",
    "serializeImagePulls",
    "tlsMinVersion",
    "volumePluginDir",
}
# Its port knows callers by their certificates, and the API server decides what they may.
ANONYMOUS, MODE = {"enabled": False}, {"mode": "Webhook"}
NEEDED = {"registerNode": True, "rotateCertificates": True, "serverTLSBootstrap": True}


class Reserved(NamedTuple):
    """What pods do not get: cores, and bytes of memory and disk; of the disk a share besides."""

    cpus: Decimal
    memory: int
    disk: int
    disk_share: Decimal


class Configuration(NamedTuple):
    runtime: Path
    client_authority: Path
    domain: str
    most_pods: int
    lease_seconds: int
    taints: list[dict[str, str]]
    reserved: Reserved


def read(file: Path) -> Configuration:
    """Raises OSError, ValueError."""
    return understand(json.loads(file.read_text()))


def understand(settings: dict[str, Any]) -> Configuration:
    head = {name: settings.get(name) for name in HEAD}
    if head != HEAD:
        raise ValueError(f"a configuration is {HEAD}, not {head}")
    if unknown := set(settings) - set(HEAD) - LIVED_BY - WITHOUT_EFFECT:
        raise ValueError(f"the kubelet of local machines does not know {', '.join(sorted(unknown))}")
    if other := [name for name, value in NEEDED.items() if settings.get(name) != value]:
        raise ValueError(f"the kubelet of local machines needs {', '.join(other)}")
    callers = settings.get("authentication", {})
    if (callers.get("anonymous"), settings.get("authorization")) != (ANONYMOUS, MODE):
        raise ValueError(
            f"the kubelet of local machines needs authentication.anonymous {ANONYMOUS}, authorization {MODE}"
        )
    if not (authority := callers.get("x509", {}).get("clientCAFile")):
        raise ValueError("the kubelet of local machines needs authentication.x509.clientCAFile")
    return Configuration(
        runtime=Path(settings["containerRuntimeEndpoint"].removeprefix("unix://")),
        client_authority=Path(authority),
        domain=settings["clusterDomain"],
        most_pods=settings["maxPods"],
        lease_seconds=settings["nodeLeaseDurationSeconds"],
        taints=settings["registerWithTaints"],
        reserved=_reserved(settings),
    )


def _reserved(settings: dict[str, Any]) -> Reserved:
    """As the real kubelet adds it up: both reserves, and what eviction keeps free ("Reserve Compute Resources")."""
    reserves = [settings.get("kubeReserved", {}), settings.get("systemReserved", {})]

    def both(name: str) -> Decimal:
        return sum((amount(one.get(name, "0")) for one in reserves), Decimal(0))

    free = settings.get("evictionHard", {})
    return Reserved(
        cpus=both("cpu"),
        memory=int(both("memory") + amount(free.get("memory.available", "100Mi"))),
        disk=int(both("ephemeral-storage")),
        disk_share=Decimal(free.get("nodefs.available", "10%").removesuffix("%")) / 100,
    )
