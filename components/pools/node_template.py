"""The Node that a new machine of a pool will be, for whoever decides whether a new machine would help: pure.

As it stands once it is fit for work: without start-up taints, and with what device plugins advertise. It must promise
no more than a machine keeps, or the autoscaler buys one on which the pod does not fit, and then another.
"""

from decimal import Decimal
from typing import Any

from . import kubelet, labels
from .hardware import ROOT_GIB
from .spec import PoolSpec

Node = dict[str, Any]
GI, MI = 1 << 30, 1 << 20
# Of its memory a machine shows less than its type is sold with: firmware and kernel keep theirs. Karpenter reckons with
# 7.5 % ("vmMemoryOverheadPercent").
VISIBLE_MEMORY = Decimal("0.925")
OS, ARCHITECTURE = "linux", "amd64"
CONDITIONS = {"Ready": "True", "MemoryPressure": "False", "DiskPressure": "False", "PIDPressure": "False"}
# Volumes are attached by their controller, as every kubelet says by default.
ANNOTATIONS = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
UNITS = {"Ki": 1 << 10, "Mi": MI, "Gi": GI}


def template(spec: PoolSpec, zone: str, name: str = "template", provider_id: str = "") -> Node:
    """A cloud's machine of that name in a zone, such as us-west-2a; AWS's, if no ID is given. Raises ValueError for a
    type of unknown size.
    """
    size = spec.hardware.size
    if spec.site or size is None:
        raise ValueError(f"pool {spec.name}: nobody can tell what a new machine of {spec.hardware.shape} will have")
    plugged = {
        labels.GPU_RESOURCE: spec.hardware.gpus,
        labels.EFA_RESOURCE: spec.hardware.efa,
        # Counted as pods are: components/addons/rdma.py.
        labels.RDMA_RESOURCE: kubelet.MOST_PODS if spec.hardware.rdma else 0,
    }
    devices = {name: str(count) for name, count in plugged.items() if count}
    memory, disk = int(Decimal(size.memory_gib) * 1024 * VISIBLE_MEMORY) * MI, ROOT_GIB[spec.kind] * GI
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": node_labels(spec, zone, name), "annotations": ANNOTATIONS},
        "spec": {
            "providerID": provider_id or f"aws:///{zone}/{name}",
            "taints": [
                {"key": one.key, "value": one.value, "effect": one.effect}
                for one in labels.taints(spec)
                if not one.start_up
            ],
        },
        "status": {
            "capacity": {**_amounts(Decimal(size.cpus), memory, disk), **devices},
            "allocatable": {**_amounts(size.cpus - _reserved("cpu"), *_left(memory, disk)), **devices},
            "conditions": [{"type": kind, "status": value} for kind, value in CONDITIONS.items()],
            "nodeInfo": {
                "architecture": ARCHITECTURE,
                "operatingSystem": OS,
                "kubeletVersion": f"v{spec.kubernetes}",
            },
        },
    }


def node_labels(spec: PoolSpec, zone: str, name: str) -> dict[str, str]:
    """The pool's, the machine's zone, and those that each kubelet gives itself."""
    own = {"os": OS, "arch": ARCHITECTURE}
    return {
        **labels.labels(spec),
        labels.ZONE: zone,
        "kubernetes.io/hostname": name,
        **{f"kubernetes.io/{key}": value for key, value in own.items()},
        **{f"beta.kubernetes.io/{key}": value for key, value in own.items()},
    }


def _left(memory: int, disk: int) -> tuple[int, int]:
    """What pods get of both: less the reserves, and less what eviction keeps free ("Reserve Compute Resources")."""
    free = kubelet.EVICTION
    share = Decimal(free["nodefs.available"].removesuffix("%")) / 100
    return (
        memory - int(_reserved("memory")) - int(_amount(free["memory.available"])),
        disk - int(_reserved("ephemeral-storage")) - int(disk * share),
    )


def _reserved(what: str) -> Decimal:
    return sum((_amount(one[what]) for one in kubelet.RESERVED.values()), Decimal(0))


def _amount(text: str) -> Decimal:
    """Cores or bytes, in the forms that kubelet.py writes."""
    for suffix, size in UNITS.items():
        if text.endswith(suffix):
            return Decimal(text.removesuffix(suffix)) * size
    return Decimal(text.removesuffix("m")) / 1000 if text.endswith("m") else Decimal(text)


def _amounts(cpus: Decimal, memory: int, disk: int) -> dict[str, str]:
    return {
        "cpu": str(int(cpus)) if cpus == int(cpus) else f"{int(cpus * 1000)}m",
        "memory": _bytes(memory),
        "ephemeral-storage": _bytes(disk),
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "pods": str(kubelet.MOST_PODS),
    }


def _bytes(number: int) -> str:
    """As the API writes it: the largest unit that leaves a whole number."""
    found = [f"{number // size}{suffix}" for suffix, size in UNITS.items() if number % size == 0]
    return found[-1] if found else str(number)
