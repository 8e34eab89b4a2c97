"""What the cluster says of a site's hosts: whether they are Ready, what runs on them; and holding one for a change."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from components.pools.labels import DOMAIN, PLACE, POOL
from fleet.work import works
from landbridge.cluster.kube import Kube

# On a node while its host is changed: who finds it on one that nobody changes goes on from there.
APPLYING = f"{DOMAIN}/applying"
LEASES = "kube-node-lease"
Node = Mapping[str, Any]


def of_site(kube: Kube, site: str) -> dict[str, Node]:
    """By name, in one call."""
    found = kube.get("nodes", f"--selector={PLACE}={site}")["items"]
    return {node["metadata"]["name"]: node for node in found}


def ready(node: Node | None) -> bool:
    return node is not None and condition(node, "Ready") == "True"


def condition(node: Node, kind: str) -> str:
    found = {one["type"]: one["status"] for one in node.get("status", {}).get("conditions", ())}
    return str(found.get(kind, "Unknown"))


def address(node: Node) -> str:
    found = {one["type"]: one["address"] for one in node.get("status", {}).get("addresses", ())}
    return str(found.get("InternalIP", ""))


def pool(node: Node) -> str:
    """Empty for a node of no pool."""
    return str(node["metadata"].get("labels", {}).get(POOL, ""))


def cordoned(node: Node) -> bool:
    return bool(node["spec"].get("unschedulable"))


def applying(node: Node) -> bool:
    return APPLYING in node["metadata"].get("annotations", {})


def busy(kube: Kube, name: str) -> list[str]:
    """NAMESPACE/NAME of each pod there that is work: not a DaemonSet's, and not ended."""
    pods = kube.get("pods", "--all-namespaces", f"--field-selector=spec.nodeName={name}")["items"]
    return sorted(f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in pods if works(pod))


def beats(kube: Kube, name: str) -> float:
    """When its kubelet last said that it lives: seconds of the host's own clock, 0 if never."""
    lease = kube.find("leases", name, f"--namespace={LEASES}")
    renewed = (lease or {}).get("spec", {}).get("renewTime")
    return datetime.fromisoformat(renewed).timestamp() if renewed else 0.0


def hold(kube: Kube, name: str) -> None:
    """Nothing more is scheduled there, until `release`."""
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    patch(kube, name, {"metadata": {"annotations": {APPLYING: now}}, "spec": {"unschedulable": True}})


def release(kube: Kube, name: str, *, leave_cordoned: bool, labels: Mapping[str, str] = MappingProxyType({})) -> None:
    """`leave_cordoned` for a node that people had cordoned before; `labels` are set, and none is taken away."""
    patch(
        kube,
        name,
        {
            "metadata": {"annotations": {APPLYING: None}, "labels": dict(labels)},
            "spec": {"unschedulable": leave_cordoned or None},
        },
    )


def patch(kube: Kube, name: str, wanted: Mapping[str, Any]) -> None:
    kube.done("patch", "node", name, "--type=merge", f"--patch={json.dumps(wanted)}")
