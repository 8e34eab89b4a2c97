"""What a node's own object shows: its conditions, its taints, and what those say who put them there. Pure."""

from collections.abc import Iterator
from datetime import UTC, datetime

from . import findings
from .observation import Json, Observation, about, moment

# The kubelet's own conditions that are bad when True.
PRESSURE = {"MemoryPressure": "memory-pressure", "DiskPressure": "disk-pressure", "PIDPressure": "pid-pressure"}
# Those that a kubelet or a controller sets itself, and that show nothing when they are as they should be.
# What is planned on it ails it not.
ORDINARY = {"Ready", "NetworkUnavailable", "Maintenance", *PRESSURE}
# Taint → what it shows. Those of landbridge.dev are ours, the rest Cluster Autoscaler's and Kubernetes'.
TAINTS = {
    "ToBeDeletedByClusterAutoscaler": "scale-down",
    "node.kubernetes.io/out-of-service": "out-of-service",
    "node.cloudprovider.kubernetes.io/shutdown": "machine-stopped",
    "status-taint.cluster-autoscaler.kubernetes.io/rolling": "rolling",
    "status-taint.cluster-autoscaler.kubernetes.io/gpu-failed": "gpu-failed",
    "landbridge.dev/gpu-failed": "gpu-failed",
}
ROLLING = "landbridge.dev/rolling"


def of_node(node: Json) -> list[Observation]:
    """In the order of their times. A node that does well shows nothing."""
    return sorted(_of_node(node), key=lambda one: one.at)


def _of_node(node: Json) -> Iterator[Observation]:
    for one in (node.get("status") or {}).get("conditions") or []:
        yield from _of_condition(node, one)
    for one in node["spec"].get("taints") or []:
        if code := TAINTS.get(one["key"]):
            yield _of_taint(node, one, code)
    if node["spec"].get("unschedulable"):
        # Kubernetes itself puts this taint there, with the moment.
        at = next(
            (moment(one.get("timeAdded")) for one in node["spec"].get("taints") or [] if "unschedulable" in one["key"]),
            0.0,
        )
        yield _seen(node, at, "API server", "cordoned", "nothing new is scheduled there")


def _seen(node: Json, at: float, source: str, code: str, text: str, **facts: object) -> Observation:
    return Observation(at, source, about(node, "node"), code, text, str(node["metadata"].get("uid", "")), facts)


def _of_condition(node: Json, one: Json) -> Iterator[Observation]:
    kind, status = str(one["type"]), str(one["status"])
    at, text, reason = (
        moment(one.get("lastTransitionTime")),
        str(one.get("message") or ""),
        str(one.get("reason") or ""),
    )
    if kind == "Ready" and status != "True":
        # Unknown: its kubelet is silent. False: it speaks, and says why it is not ready.
        code, source = ("node-silent", "node controller") if status == "Unknown" else ("node-not-ready", "kubelet")
        yield _seen(node, at, source, code, text, reason=reason)
    elif kind in PRESSURE and status == "True":
        yield _seen(node, at, "kubelet", PRESSURE[kind], text, reason=reason)
    elif kind not in ORDINARY and status == "True":
        code, facts = findings.code(reason, text) or "node-finding", findings.facts(text)
        yield _seen(node, at, "node", code, text, reason=reason, condition=kind, **facts)


def _of_taint(node: Json, taint: Json, code: str) -> Observation:
    notes = node["metadata"].get("annotations") or {}
    at, facts, text = moment(taint.get("timeAdded")), {"taint": taint["key"]}, str(taint.get("value") or "")
    if code == "scale-down" and text.isdigit():
        # Cluster Autoscaler writes the moment as the value.
        at = float(text)
        text = f"the autoscaler marked it at {datetime.fromtimestamp(at, UTC):%H:%M:%S} UTC"
    if code == "rolling":
        at = moment(notes.get(f"{ROLLING}-since")) or at
        text, facts = notes.get(f"{ROLLING}-why", ""), {**facts, "until": notes.get(f"{ROLLING}-until", "")}
    return _seen(node, at, "node", code, text, **facts)
