"""Labels and taints of nodes: the one table that kubelets, the autoscaler's templates, add-ons and policies share.

The same names in every cloud and at every site, so that one Job manifest passes on every pool.
"""

from typing import Literal, NamedTuple

from .spec import PoolSpec

DOMAIN = "landbridge.dev"
POOL, KIND, OWNER, PLACE, GPU, RDMA = (f"{DOMAIN}/{what}" for what in ("pool", "kind", "owner", "place", "gpu", "rdma"))
REGION, ZONE = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"
SHAPE = "node.kubernetes.io/instance-type"
# NVIDIA's own: without it its charts schedule their plugin to no node at all (k8s-device-plugin issue 607).
GPU_PRESENT = "nvidia.com/gpu.present"

# What the device plugin advertises, and the label of its pods, in kube-system.
GPU_RESOURCE = "nvidia.com/gpu"
DEVICE_PLUGIN = ("app.kubernetes.io/name", "nvidia-device-plugin")
# The same of the networks between GPU machines: EFA on AWS, InfiniBand on Azure, either or RoCE at sites.
EFA_RESOURCE, RDMA_RESOURCE = "vpc.amazonaws.com/efa", "rdma/hca"
EFA_PLUGIN = ("app.kubernetes.io/name", "aws-efa-device-plugin")
RDMA_PLUGIN = ("app.kubernetes.io/name", "rdma-shared-device-plugin")

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class Taint(NamedTuple):
    """`start_up` ones go by themselves when the node is fit for work."""

    key: str
    value: str
    effect: Effect
    start_up: bool = False


# The value matters: node-feature-discovery tolerates `present` and no other (k8s-device-plugin issue 734). Whoever asks
# for nvidia.com/gpu tolerates it by the admission plugin ExtendedResourceToleration.
GPU_TAINT = Taint("nvidia.com/gpu", "present", "NoSchedule")
# Until GPUs are advertised. The autoscaler knows the prefix: such a node is on its way, not broken.
GPU_STARTING = Taint("startup-taint.cluster-autoscaler.kubernetes.io/gpu", "starting", "NoSchedule", start_up=True)
GPU_FAILED = Taint(f"{DOMAIN}/gpu-failed", "true", "NoSchedule")
# The autoscaler knows this prefix, too: the node stays ready, new work finds no room there, and the pool's next machine
# is not taken to have the taint.
STATUS = "status-taint.cluster-autoscaler.kubernetes.io"
# Of a machine that failed its burn-in (`landbridge image burn-in`), and of one that is to be replaced (`landbridge pool
# roll`).
GPU_BURN_IN = Taint(f"{STATUS}/gpu-failed", "burn-in", "NoSchedule")
ROLLING = Taint(f"{STATUS}/rolling", "true", "NoSchedule")
SYSTEM = Taint(f"{DOMAIN}/system", "true", "NoSchedule")
# Pods have no business where laptops come in; what every node needs tolerates everything.
WAY_IN = Taint(f"{DOMAIN}/laptops", "true", "NoSchedule")
TAINTS: dict[str, tuple[Taint, ...]] = {
    "gpu": (GPU_TAINT, GPU_STARTING),
    "cpu": (),
    "system": (SYSTEM,),
    "laptops": (WAY_IN,),
}


def labels(spec: PoolSpec) -> dict[str, str]:
    """Those that all machines of a pool share; a cloud's machine adds its own zone when it boots."""
    found = {
        POOL: spec.name,
        KIND: spec.kind,
        OWNER: spec.owner,
        PLACE: spec.place,
        REGION: spec.place,
        SHAPE: spec.hardware.shape,
    }
    if spec.site:
        # A site is one zone: what is cut off together is in one. When all of it is, tolerations keep its pods.
        found[ZONE] = spec.place
    if spec.hardware.gpus:
        found[GPU_PRESENT] = "true"
        if spec.hardware.model:
            found[GPU] = spec.hardware.model
    if spec.hardware.rdma:
        found[RDMA] = "true"
    return dict(sorted(found.items()))


def taints(spec: PoolSpec) -> tuple[Taint, ...]:
    """What nodes register with. Pools of kind ssh have no nodes."""
    return TAINTS[spec.kind]
