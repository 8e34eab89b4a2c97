"""What events show: rows of who said it, by which reason, in which words. Pure. What no row has shows nothing."""

import re
from typing import NamedTuple

from . import findings, images
from .observation import Json, Observation, moment


class Row(NamedTuple):
    """An event of that kind of object, with that reason, whose note has the pattern, shows `code`."""

    kind: str
    reason: str
    pattern: str
    code: str


# Reasons: Kubernetes 1.36 pkg/kubelet/events/event.go and kuberuntime, Cluster Autoscaler 1.35 core/scaledown.
ROWS = (
    # What the probe of `landbridge run --hang-minutes` says.
    Row("Pod", "Unhealthy", "this host hangs", "hang"),
    Row("Pod", "Unhealthy", "^Liveness probe", "liveness"),
    Row("Pod", "Unhealthy", "^Startup probe", "liveness"),
    Row("Pod", "Killing", "failed (liveness|startup) probe", "killed-by-probe"),
    Row("Pod", "Failed", r"(?i)pull image|ErrImage|ImagePullBackOff", images.CODE),
    Row("Pod", "FailedMount", "", "mount"),
    Row("Pod", "FailedAttachVolume", "", "mount"),
    Row("Pod", "FailedMapVolume", "", "mount"),
    Row("Pod", "FailedCreatePodSandBox", "", "sandbox"),
    Row("Pod", "NetworkNotReady", "", "sandbox"),
    Row("Pod", "Preempted", "", "preempted"),
    Row("Pod", "FailedScheduling", "", "no-node"),
    Row("Pod", "NotTriggerScaleUp", "", "nothing-bought"),
    Row("Pod", "TriggeredScaleUp", "", "machines-bought"),
    Row("Pod", "ScaleDown", "", "scale-down"),
    Row("Pod", "TaintManagerEviction", "^Marking", "taint-manager"),
    # Of the pod it says nothing: it goes on, or something else shows its end.
    Row("Pod", "NodeNotReady", "", "node-unready"),
    Row("Pod", "Evicted", "", "evicted-said"),
    Row("Pod", "FailedPostStartHook", "", "container-refused"),
    Row("Pod", "UnexpectedAdmissionError", "", "admission-error"),
    Row("Node", "SystemOOM", "", "oom-of-node"),
    Row("Node", "Rebooted", "", "rebooted"),
    Row("Node", "ScaleDown", "", "scale-down"),
    Row("Node", "NodeNotReady", "", "node-silent"),
    Row("Node", "DeletingNode", "", "node-deleted"),
    Row("Node", "RemovingNode", "", "node-deleted"),
    Row("Node", "EvictionThresholdMet", "memory", "memory-pressure"),
    Row("Node", "EvictionThresholdMet", "pids", "pid-pressure"),
    Row("Node", "EvictionThresholdMet", "", "disk-pressure"),
    Row("Job", "BackoffLimitExceeded", "", "job-gave-up"),
    Row("Job", "DeadlineExceeded", "", "job-deadline"),
    Row("Job", "PodFailurePolicy", "", "job-failure-policy"),
    Row("Job", "FailedCreate", "", "pod-refused"),
    Row("JobSet", "Restarting", "", "run-restarts"),
)


def of_event(event: Json) -> Observation | None:
    """Of an event of either API: core's, or events.k8s.io's."""
    thing = event.get("involvedObject") or event.get("regarding") or {}
    text = str(event.get("message") or event.get("note") or "")
    reason = str(event.get("reason") or "")
    row = next(
        (
            one
            for one in ROWS
            if one.kind == thing.get("kind") and one.reason == reason and re.search(one.pattern, text)
        ),
        None,
    )
    node = thing.get("kind") == "Node"
    if row is None and node and (found := findings.code(reason, text)):
        row = Row("Node", reason, "", found)
    if row is None:
        return None
    parts = (row.kind.lower(), thing.get("namespace", ""), thing["name"])
    # Events of nodes are in a namespace, nodes are not, and their kubelets give the name as the uid.
    name = "/".join(part for part in (parts[::2] if node else parts) if part)
    uid = "" if node else str(thing.get("uid", ""))
    code = images.code(text) if row.code == images.CODE else row.code
    # Such as spec.containers{run}.
    field = re.search(r"\{(.+)\}", str(thing.get("fieldPath") or "")) or re.search(r"^Container (\S+) failed", text)
    container = {"container": field[1]} if field else {}
    own = findings.facts(text) if node else {}
    facts = {**own, **container, "reason": reason, "times": times(event), "since": moment(_first(event))}
    return Observation(last(event), source(event), name, code, text, uid, facts)


def source(event: Json) -> str:
    return str(
        event.get("reportingComponent")
        or event.get("reportingController")
        or (event.get("source") or {}).get("component")
        or ""
    )


def times(event: Json) -> int:
    return int(event.get("count") or event.get("deprecatedCount") or (event.get("series") or {}).get("count") or 1)


def _first(event: Json) -> str | None:
    return event.get("firstTimestamp") or event.get("deprecatedFirstTimestamp") or event.get("eventTime")


def last(event: Json) -> float:
    series = event.get("series") or {}
    found = (event.get("lastTimestamp"), event.get("deprecatedLastTimestamp"), series.get("lastObservedTime"))
    return max(moment(one) for one in (*found, event.get("eventTime"), event["metadata"].get("creationTimestamp")))
