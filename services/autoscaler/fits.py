"""Why a new machine of a group would not take a pod, in the scheduler's first and plainest rules: pure.

It explains, and decides nothing: the autoscaler has all of the scheduler's rules, and where this finds nothing the
scheduler's own sentence stands beside it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from .amounts import amount, plain, pod_requests

Node = Mapping[str, Any]
Pod = Mapping[str, Any]
HARD = ("NoSchedule", "NoExecute")
# Those of a node that is on its way (the autoscaler's FAQ, "startup taints").
STARTING = "startup-taint.cluster-autoscaler.kubernetes.io/"


class Misfit(NamedTuple):
    code: Literal["selector", "taint", "too-large"]
    text: str


def misfit(pod: Pod, node: Node) -> Misfit | None:
    """`node` is a template."""
    return next(_misfits(pod, node), None)


def _misfits(pod: Pod, node: Node) -> Iterator[Misfit]:
    spec, has = pod["spec"], node["metadata"].get("labels") or {}
    if wrong := unmatched(spec, has):
        yield Misfit("selector", wrong)
    tolerations = spec.get("tolerations") or []
    wanted = pod_requests(pod)
    for taint in node["spec"].get("taints") or []:
        if taint["effect"] not in HARD or taint["key"].startswith(STARTING):
            continue
        # The admission plugin ExtendedResourceToleration adds it for whoever asks for the device.
        if not any(_tolerates(one, taint) for one in tolerations):
            yield Misfit("taint", f"it does not tolerate {taint['key']}={taint.get('value', '')}:{taint['effect']}")
    allocatable = node["status"]["allocatable"]
    for name, count in sorted(wanted.items()):
        most = amount(str(allocatable.get(name, "0")))
        if count > most:
            it, has_most = plain({name: count})[name], plain({name: most})[name]
            yield Misfit("too-large", f"it asks for {it} {name}, and a machine has {has_most} for pods")


def unmatched(spec: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    """What the pod wants of a node's labels and does not get; empty where nothing is missing."""
    for key, value in (spec.get("nodeSelector") or {}).items():
        if labels.get(key) != value:
            return _missing(f"{key}={value}", key, labels)
    affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    ) or {}
    terms = affinity.get("nodeSelectorTerms") or []
    wrong = [_of_term(term, labels) for term in terms]
    return wrong[0] if wrong and all(wrong) else ""


def _of_term(term: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    if term.get("matchFields"):
        return "it is bound to one node by its name"
    for one in term.get("matchExpressions") or []:
        key, values = one["key"], one.get("values") or []
        if not _holds(one["operator"], labels.get(key), values):
            return _missing(" ".join([key, one["operator"], *([", ".join(values)] if values else [])]), key, labels)
    return ""


def _missing(wanted: str, key: str, labels: Mapping[str, str]) -> str:
    return f"it wants {wanted}, and this pool has {labels.get(key, 'none')}"


def _holds(operator: str, has: str | None, values: list[str]) -> bool:
    match operator:
        case "In":
            return has in values
        case "NotIn":
            return has not in values
        case "Exists":
            return has is not None
        case "DoesNotExist":
            return has is None
        case "Gt" | "Lt":
            if has is None or not has.lstrip("-").isdigit():
                return False
            return int(has) > int(values[0]) if operator == "Gt" else int(has) < int(values[0])
    return False


def _tolerates(one: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if one.get("effect") and one["effect"] != taint["effect"]:
        return False
    if not one.get("key"):
        return bool(one.get("operator") == "Exists")
    if one["key"] != taint["key"]:
        return False
    return bool(one.get("operator") == "Exists" or one.get("value", "") == taint.get("value", ""))
