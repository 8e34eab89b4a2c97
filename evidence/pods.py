"""What a pod's own object shows: its containers' ends, what its kubelet refused, who marked it for its end. Pure.

Reasons are those of Kubernetes 1.36: pkg/kubelet/eviction/helpers.go, pkg/kubelet/kubelet.go, core/v1/types.go.
"""

import json
import re
import signal
from collections.abc import Iterator, Mapping
from typing import Any

from . import images
from .observation import Json, Observation, about, moment

# How the first container of a run ends on a host that is not fit for work (fleet/fitness.py, landbridge/experiments).
# Of others the same code means what their program means by it.
RUN, FIRST, UNFIT = "landbridge.dev/run", "code", 75

# Of a container that waits: what keeps it.
WAITING = {
    "ErrImagePull": "image",
    "ImagePullBackOff": "image",
    "InvalidImageName": "image",
    "ErrImageNeverPull": "image",
    "ImageInspectError": "image",
    "RegistryUnavailable": "image",
    "CreateContainerConfigError": "config-missing",
    "CreateContainerError": "container-refused",
    "RunContainerError": "container-refused",
    "CrashLoopBackOff": "crash-loop",
}
# Of a container that has ended, where the reason says more than its exit code.
ENDED = {
    "OOMKilled": "oom-killed",
    "ContainerStatusUnknown": "lost-with-kubelet",
    "ContainerCannotRun": "container-refused",
    "StartError": "container-refused",
    "DeadlineExceeded": "deadline",
}
# Of a pod that its kubelet ended, or did not take.
FAILED = {
    "DeadlineExceeded": "deadline",
    "UnexpectedAdmissionError": "admission-error",
    "Terminated": "node-shutdown",
    "NodeShutdown": "node-shutdown",
    "NodeLost": "node-lost",
    "NodeAffinity": "node-misfit",
    "Preempting": "preempted-by-kubelet",
}
FULL = re.compile(r"OutOf\S+")
# Why a kubelet evicts, by its message; the first that fits.
EVICTED = (
    (r"low on resource: memory|condition: \[?MemoryPressure", "evicted-memory"),
    (r"low on resource: pids|condition: \[?PIDPressure", "evicted-pids"),
    (r"low on resource: (ephemeral-storage|inodes)|condition: \[?DiskPressure", "evicted-disk"),
    (r"exceeds the (total )?limit|exceeded its local ephemeral storage limit", "evicted-own-disk"),
    ("", "evicted"),
)
# By SIGKILL and SIGTERM, which programs don't send themselves: somebody wanted the end.
STOPPED = (128 + signal.SIGKILL, 128 + signal.SIGTERM)
MAINTENANCE, ANNOUNCED = "landbridge.dev/maintenance", "maintenance-due"
# What ends the machine is told as that, whoever hears of it first.
ENDING = {"ec2-spot": "spot-notice", "ec2-retirement": "scheduled-retirement"}
# By whom a pod is marked for its end: reasons of its condition DisruptionTarget.
DISRUPTED = {
    "PreemptionByScheduler": "preempted",
    "DeletionByTaintManager": "taint-manager",
    "EvictionByEvictionAPI": "evicted-by-api",
    "DeletionByPodGC": "node-gone",
    "TerminationByKubelet": "ended-by-kubelet",
}


def of_pod(pod: Json) -> list[Observation]:
    """In the order of their times. A pod that does well shows nothing."""
    return sorted(_of_pod(pod), key=lambda one: one.at)


def _of_pod(pod: Json) -> Iterator[Observation]:
    spec, status = pod["spec"], pod.get("status") or {}
    created = moment(pod["metadata"].get("creationTimestamp"))
    for kind, place in (("init", "initContainerStatuses"), ("main", "containerStatuses")):
        for one in status.get(place) or []:
            yield from _of_container(pod, one, kind, created)
    if reason := str(status.get("reason") or ""):
        yield _seen(
            pod, _end(status) or created, "kubelet", _failed(reason, _text(status)), _text(status), reason=reason
        )
    elif status.get("phase") == "Succeeded":
        yield _seen(pod, _end(status), "kubelet", "done", "all its containers ended with exit code 0")
    for one in status.get("conditions") or []:
        yield from _of_condition(pod, one)
    yield from _announced(pod)
    if gates := [str(one["name"]) for one in spec.get("schedulingGates") or []]:
        yield _seen(pod, created, "scheduler", "gated", f"held back by {', '.join(gates)}", gates=gates)
    if gone := moment(pod["metadata"].get("deletionTimestamp")):
        grace = float(pod["metadata"].get("deletionGracePeriodSeconds") or 0)
        yield _seen(pod, gone - grace, "API server", "deleting", f"it has {grace:.0f} seconds to end", grace=grace)


def _seen(pod: Json, at: float, source: str, code: str, text: str, **facts: Any) -> Observation:
    return Observation(at, source, about(pod, "pod"), code, text, str(pod["metadata"].get("uid", "")), facts)


def _announced(pod: Json) -> Iterator[Observation]:
    """Of work on its machine that it was told of, from when that begins (fleet/maintenance.py)."""
    try:
        told = json.loads((pod["metadata"].get("annotations") or {}).get(MAINTENANCE) or "{}")
        if told:
            text = f"{told['why']}, announced by {told['by']} for {told['start']}"
            code = ENDING.get(str(told.get("source")), ANNOUNCED)
            yield _seen(pod, float(told["start_seconds"]), "maintenance", code, text, plan=str(told["maintenance"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        return


def _text(status: Json) -> str:
    return str(status.get("message") or "")


def _failed(reason: str, message: str) -> str:
    if reason == "Evicted":
        return next(code for pattern, code in EVICTED if re.search(pattern, message))
    return "node-full" if FULL.fullmatch(reason) else FAILED.get(reason, "failed")


def _end(status: Json) -> float:
    """When its last container ended, else when it was marked or became unready."""
    ends = [moment((one.get("state") or {}).get("terminated", {}).get("finishedAt")) for one in _containers(status)]
    turns = [
        moment(one.get("lastTransitionTime")) for one in status.get("conditions") or [] if one["status"] == "False"
    ]
    return max(ends, default=0.0) or max(turns, default=0.0) or moment(status.get("startTime"))


def _containers(status: Json) -> list[Json]:
    return [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]


def _of_container(pod: Json, container: Json, kind: str, created: float) -> Iterator[Observation]:
    facts = {"container": container["name"], "kind": kind, "restarts": container.get("restartCount", 0)}
    for again, state in ((True, container.get("lastState") or {}), (False, container.get("state") or {})):
        if ended := state.get("terminated"):
            # What was started again ended no pod.
            yield _ended(pod, ended, {**facts, **({"again": True} if again else {})})
        if waits := state.get("waiting"):
            reason = str(waits.get("reason") or "")
            if code := WAITING.get(reason):
                if code == images.CODE:
                    code = images.code(f"{reason} {_text(waits)}")
                image = container.get("image", "")
                yield _seen(pod, created, "kubelet", code, _text(waits), reason=reason, image=image, **facts)


def _ended(pod: Json, ended: Json, facts: Mapping[str, Any]) -> Observation:
    number, reason = int(ended["exitCode"]), str(ended.get("reason") or "")
    failed = "init-exited" if facts["kind"] == "init" else "exited"
    if (facts["container"], number) == (FIRST, UNFIT) and RUN in (pod["metadata"].get("labels") or {}):
        failed = "host-unfit"
    code = ENDED.get(reason) or ("signalled" if number in STOPPED else failed if number else "completed")
    # From 128 on a shell and the runtime mean the signal that ended it.
    by = {"signal": number - 128} if 128 < number < 128 + 65 else {}
    seconds = moment(ended.get("finishedAt")) - moment(ended.get("startedAt"))
    more = {"exit_code": number, "seconds": max(0.0, seconds), **by}
    return _seen(pod, moment(ended.get("finishedAt")), "kubelet", code, _text(ended), reason=reason, **facts, **more)


def _of_condition(pod: Json, one: Json) -> Iterator[Observation]:
    at, reason, text = moment(one.get("lastTransitionTime")), str(one.get("reason") or ""), _text(one)
    if one["type"] == "DisruptionTarget" and one["status"] == "True":
        yield _seen(pod, at, "API server", DISRUPTED.get(reason, "disrupted"), text, reason=reason)
    if one["type"] == "PodScheduled" and one["status"] == "False" and reason == "Unschedulable":
        yield _seen(pod, at, "scheduler", "no-node", text, reason=reason)
