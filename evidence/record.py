"""What is kept of an object that is gone, so that it can still be asked about. Pure.

A table says what: nothing of an environment but the folder of checkpoints, which a run tells itself, no arguments, no
commands, no annotations.
"""

from collections.abc import Mapping
from typing import Any

from .observation import Json, Observation, about

# Codes: the object as it was, and that it is no more.
RECORD, GONE = "record", "gone"
# Of which time a part tells all, and of which nothing is known; what a container wrote last.
WATCHED, GAP, LAST_LINES = "watched", "gap", "last-lines"
# Kind → paths that are kept. * is each of a list, / between names.
META = (
    *("metadata/name", "metadata/namespace", "metadata/uid", "metadata/creationTimestamp", "metadata/labels"),
    *("metadata/deletionTimestamp", "metadata/ownerReferences/*/kind", "metadata/ownerReferences/*/name"),
)
CONDITIONS = ("status/conditions/*/type", "status/conditions/*/status")
CONTAINERS = tuple(
    f"spec/{kind}/*/{field}" for kind in ("initContainers", "containers") for field in ("name", "image", "resources")
)
KEPT: Mapping[str, tuple[str, ...]] = {
    "pod": (
        *META,
        *("spec/nodeName", "spec/priorityClassName", "spec/priority", "spec/restartPolicy", "spec/schedulerName"),
        *CONTAINERS,
        *("status/phase", "status/reason", "status/startTime"),
    ),
    "job": (*META, "spec/backoffLimit", "spec/suspend", "status/failed", "status/succeeded", *CONDITIONS),
    "jobset": (
        *META,
        *("spec/suspend", "spec/failurePolicy/maxRestarts"),
        *("status/terminalState", "status/restarts", "status/restartsCountTowardsMax"),
        *CONDITIONS,
    ),
    "workload": (*META, "spec/queueName", "spec/priority", "spec/active", *CONDITIONS),
    "node": (
        *META,
        *("spec/providerID", "spec/unschedulable", "spec/taints"),
        *("status/nodeInfo/bootID", "status/nodeInfo/kubeletVersion", *CONDITIONS),
    ),
}
# Of a run's pods: where it goes on from. Ours have plain values.
CHECKPOINTS = "CHECKPOINT_DIR"


def record(thing: Json, kind: str, at: float, **facts: Any) -> Observation:
    """`facts` are what others know of it, such as its node's pool."""
    kept = trimmed(thing, kind)
    uid = str(thing["metadata"].get("uid", ""))
    return Observation(at, "recorder", about(thing, kind), RECORD, "", uid, {**facts, "object": kept})


def trimmed(thing: Json, kind: str) -> dict[str, Any]:
    """The object's own form, with little in it."""
    kept: dict[str, Any] = {"metadata": {}, "spec": {}, "status": {}}
    for path in KEPT[kind]:
        _copy(thing, kept, path.split("/"))
    if kind == "pod" and (folder := _checkpoints(thing)):
        kept["spec"]["containers"][0]["env"] = [{"name": CHECKPOINTS, "value": folder}]
    return kept


def gone(thing: Json, kind: str, at: float, text: str) -> Observation:
    return Observation(at, "recorder", about(thing, kind), GONE, text, str(thing["metadata"].get("uid", "")))


def _checkpoints(pod: Json) -> str:
    return next(
        (
            str(one["value"])
            for box in pod["spec"].get("containers") or []
            for one in box.get("env") or []
            if one["name"] == CHECKPOINTS and one.get("value")
        ),
        "",
    )


def _copy(source: Any, target: dict[str, Any], path: list[str]) -> None:
    """Nothing where the source has nothing."""
    first, *rest = path
    value = source.get(first) if isinstance(source, Mapping) else None
    if value is None:
        return
    if not rest:
        target[first] = value
    elif rest[0] == "*":
        many = target.setdefault(first, [{} for _ in value])
        for one, into in zip(value, many, strict=True):
            _copy(one, into, rest[1:])
    else:
        below = target.setdefault(first, {})
        _copy(value, below, rest)
