"""What a cluster says of its pools' nodes: which there are, what they have, and what runs there."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from components.pools.labels import GPU_RESOURCE, POOL
from fleet.work import works
from landbridge.cluster.kube import Kube
from landbridge.site.nodes import Node

Pod = Mapping[str, Any]
# Pods that have ended hold nothing: the API leaves them out.
HOLDING = "--field-selector=spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"


def by_pool(kube: Kube) -> dict[str, list[Node]]:
    found = defaultdict[str, list[Node]](list)
    for node in kube.get("nodes", f"--selector={POOL}")["items"]:
        found[node["metadata"]["labels"][POOL]].append(node)
    return found


def of_pool(kube: Kube, pool: str) -> dict[str, Node]:
    """By name."""
    return {node["metadata"]["name"]: node for node in kube.get("nodes", f"--selector={POOL}={pool}")["items"]}


def pods(kube: Kube) -> dict[str, list[Pod]]:
    """Those that hold something of a node, by the node's name."""
    found = defaultdict[str, list[Pod]](list)
    for pod in kube.get("pods", "--all-namespaces", HOLDING)["items"]:
        found[pod["spec"]["nodeName"]].append(pod)
    return found


def work(kube: Kube) -> dict[str, list[str]]:
    """NAMESPACE/NAME of pods that are work, by node; a node without is not in it."""
    names = {
        node: sorted(f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in there if works(pod))
        for node, there in pods(kube).items()
    }
    return {node: workloads for node, workloads in names.items() if workloads}


def allocatable(nodes: Sequence[Node]) -> int:
    """GPUs."""
    return sum(int(node.get("status", {}).get("allocatable", {}).get(GPU_RESOURCE, 0)) for node in nodes)


def gpus(pod: Pod) -> int:
    """What a pod requests, as the scheduler counts: init containers run before the others, sidecars beside them."""
    together = peak = 0
    for container in pod["spec"].get("initContainers", ()):
        asks = request(container)
        if container.get("restartPolicy") == "Always":
            together += asks
            peak = max(peak, together)
        else:
            peak = max(peak, together + asks)
    return max(peak, together + sum(request(one) for one in pod["spec"]["containers"]))


def request(container: Mapping[str, Any]) -> int:
    resources = container.get("resources", {})
    return int(resources.get("requests", {}).get(GPU_RESOURCE) or resources.get("limits", {}).get(GPU_RESOURCE) or 0)
