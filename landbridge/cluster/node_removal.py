"""Nodes of machines that went with their stack.

The cluster removes such nodes itself, but minutes later, for it goes by what clouds say twice
(components/pools/on_machine/departed.py); who destroyed the machines knows at once.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from components.pools.labels import POOL
from fleet import laptops

from .kube import Kube, KubeError


class Machines(NamedTuple):
    """Of one stack: the cluster whose nodes they were, and by which pools' names."""

    cluster: str
    pools: tuple[str, ...]


def of(name: str, outputs: Mapping[str, Any]) -> Machines | None:
    """By what the stack published (stacks.outputs). None for one without machines in a cloud that are nodes."""
    if "servers" in outputs:
        servers = (laptops.machine(outputs["region"], server) for server in outputs["servers"])
        return Machines(outputs["cluster"], tuple(servers))
    return Machines(outputs["cluster"], (name,)) if "groups" in outputs else None


def remove(kube: Kube, machines: Machines) -> str:
    """Says why they are left, if they are."""
    try:
        kube.done("delete", "nodes", f"--selector={POOL} in ({','.join(machines.pools)})")
    except KubeError as error:
        return f"its nodes are left for the cluster {machines.cluster} to remove: {error}"
    return ""
