"""Nodes as far as maintenance goes: what they are called, whether they do well, and what stands on them of it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from fleet import fitness
from fleet.maintenance import (
    ANNOTATION,
    ANNOUNCED,
    CONDITION,
    CORDONED,
    LABELS,
    ROLLING_UNTIL,
    ROLLING_WHY,
    TAINT,
    Plan,
)

PATH = "/api/v1/nodes"
POOL, PLACE, ZONE = (LABELS[kind] for kind in ("pool", "site", "zone"))
GPUS = "nvidia.com/gpu"
# Taints of machines that may not work: components/pools/labels.py; a test compares.
FAILED = ("landbridge.dev/gpu-failed", "status-taint.cluster-autoscaler.kubernetes.io/gpu-failed")
STARTING = "startup-taint.cluster-autoscaler.kubernetes.io/gpu"
# Conditions that are wrong when they are True, as kubelets and node-problem-detector have them.
WELL = frozenset({"Ready", CONDITION})


class Unfit(NamedTuple):
    """A condition by which nothing new is to begin there, and since when it is so, as the API has it."""

    condition: str
    since: str
    message: str


class Node(NamedTuple):
    """`taints` are as they stand there, all of them; `condition` is ours, and `annotation` too."""

    name: str
    version: str
    pool: str
    place: str
    zone: str
    gpus: int
    ready: bool
    wrong: tuple[str, ...]
    taints: tuple[Mapping[str, Any], ...]
    unschedulable: bool
    cordoned: bool
    annotation: str
    announced: str
    rolling: tuple[str, str]
    unfit: tuple["Unfit", ...]
    condition: Mapping[str, Any]

    @property
    def taint(self) -> str | None:
        """The value of ours."""
        return next((str(one.get("value") or "") for one in self.taints if one["key"] == TAINT), None)

    @property
    def marked(self) -> bool:
        return bool(
            self.taint is not None or self.cordoned or self.annotation or self.condition.get("status") == "True"
        )


def read(thing: Mapping[str, Any]) -> Node:
    meta, spec = thing["metadata"], thing.get("spec") or {}
    labels, annotations = meta.get("labels") or {}, meta.get("annotations") or {}
    status = thing.get("status") or {}
    conditions = {one["type"]: one for one in status.get("conditions") or []}
    taints = tuple(spec.get("taints") or ())
    ready = conditions.get("Ready", {}).get("status") == "True"
    wrong = [*([] if ready else ["it is not Ready"])]
    wrong += [f"it has {name}" for name, one in conditions.items() if name not in WELL and one["status"] == "True"]
    wrong += [f"it is {one['key'].rpartition('/')[2]}" for one in taints if one["key"] in FAILED]
    wrong += ["its GPUs are not there yet" for one in taints if one["key"] == STARTING]
    return Node(
        meta["name"],
        meta["resourceVersion"],
        labels.get(POOL, ""),
        labels.get(PLACE, ""),
        labels.get(ZONE, ""),
        int((status.get("allocatable") or {}).get(GPUS, 0)),
        ready,
        tuple(wrong),
        taints,
        bool(spec.get("unschedulable")),
        annotations.get(CORDONED) == "true",
        annotations.get(ANNOTATION, ""),
        annotations.get(ANNOUNCED, ""),
        (annotations.get(ROLLING_WHY, ""), annotations.get(ROLLING_UNTIL, "")),
        tuple(
            Unfit(name, one["lastTransitionTime"], one.get("message") or name)
            for name, one in sorted(conditions.items())
            if name in fitness.CONDITIONS and one["status"] == "True"
        ),
        conditions.get(CONDITION, {}),
    )


def meant(plan: Plan, node: Node) -> bool:
    """Whether the plan is about it. A link's name ends with the site or region behind it."""
    if plan.target == "node":
        return node.name == plan.target_name
    has = {POOL: node.pool, PLACE: node.place, ZONE: node.zone}[LABELS[plan.target]]
    return bool(has) and has == plan.target_name
