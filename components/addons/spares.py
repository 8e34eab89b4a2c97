"""Warm spares: machines of a pool that are there before anybody asks for them.

A pod that does nothing holds all GPUs of each. Work that needs a machine takes its place at once, since everything that
people start stands higher; then that pod waits, and the autoscaler buys the next machine for it.
"""

from collections.abc import Iterator

from components.pools import labels
from components.pools.spec import PoolSpec

from .gpu import tolerated
from .images import PAUSE
from .manifests import Manifest, container, deployment
from .priorities import WARM
from .spec import AddOnsSpec

ADDON = "spares"


def wanted(spec: AddOnsSpec) -> bool:
    return any(_pools(spec))


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    return [_deployment(pool, count) for pool, count in _pools(spec)]


def _pools(spec: AddOnsSpec) -> Iterator[tuple[PoolSpec, int]]:
    return ((pool, count) for pool in spec.pools if (count := spec.fleet.pools[pool.name].spares))


def _deployment(pool: PoolSpec, count: int) -> Manifest:
    name = f"spare-{pool.name}"
    holds = container("holds", PAUSE, "10m", "16Mi")
    holds["resources"]["limits"] = {labels.GPU_RESOURCE: str(pool.hardware.gpus)}
    pod = {
        "priorityClassName": WARM,
        "nodeSelector": {labels.POOL: pool.name},
        "tolerations": [tolerated(taint) for taint in labels.TAINTS["gpu"] if not taint.start_up],
        # Whoever takes its place waits for nothing.
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "containers": [holds],
    }
    # No `up` waits for machines that may not be to be had.
    return deployment(name, ADDON, count, pod)
