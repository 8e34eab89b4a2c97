"""When an object is ready: what its own status says, kind by kind, as the official provider waits for it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Object = Mapping[str, Any]
# An object by its API path; None when there is none.
Get = Callable[[str], Object | None]


class Verdict(NamedTuple):
    """`text` says what is waited for; `failed` that waiting on is of no use."""

    ready: bool
    text: str = ""
    failed: bool = False


READY = Verdict(ready=True)
Judge = Callable[[Object, Get], Verdict]


def condition(thing: Object, kind: str) -> Object:
    for one in (thing.get("status") or {}).get("conditions") or []:
        if one.get("type") == kind:
            return dict(one)
    return {}


def _is(thing: Object, kind: str) -> Verdict:
    found = condition(thing, kind)
    if found.get("status") == "True":
        return READY
    return Verdict(ready=False, text=f"waiting for condition {kind}{_reason(found)}")


def _reason(found: Object) -> str:
    reason, message = found.get("reason"), found.get("message")
    return f" ({': '.join(str(part) for part in (reason, message) if part)})" if reason or message else ""


def _observed(thing: Object) -> bool:
    observed = (thing.get("status") or {}).get("observedGeneration") or 0
    return bool(observed >= ((thing.get("metadata") or {}).get("generation") or 0))


UNSEEN = Verdict(ready=False, text="waiting for its controller to take notice")


def deployment(thing: Object, get: Get) -> Verdict:  # noqa: ARG001
    if not _observed(thing):
        return UNSEEN
    spec, status = thing["spec"], thing.get("status") or {}
    progress = condition(thing, "Progressing")
    if progress.get("reason") == "ProgressDeadlineExceeded":
        return Verdict(ready=False, text=str(progress.get("message") or "it made no progress in time"), failed=True)
    wanted = spec.get("replicas", 1)
    updated, available = status.get("updatedReplicas") or 0, status.get("availableReplicas") or 0
    if updated < wanted:
        return Verdict(ready=False, text=f"{updated} of {wanted} replicas updated")
    if (status.get("replicas") or 0) > updated:
        return Verdict(ready=False, text=f"{status['replicas'] - updated} old replicas still end")
    if available < wanted:
        return Verdict(ready=False, text=f"{available} of {wanted} replicas available")
    return READY


def daemon_set(thing: Object, get: Get) -> Verdict:  # noqa: ARG001
    if not _observed(thing):
        return UNSEEN
    status = thing.get("status") or {}
    wanted = status.get("desiredNumberScheduled") or 0
    by_hand = (thing["spec"].get("updateStrategy") or {}).get("type") == "OnDelete"
    for name, words in (("updatedNumberScheduled", "updated"), ("numberAvailable", "available")):
        count = status.get(name) or 0
        if count < wanted and not (by_hand and words == "updated"):
            return Verdict(ready=False, text=f"{count} of {wanted} pods {words}")
    return READY


def stateful_set(thing: Object, get: Get) -> Verdict:  # noqa: ARG001
    if not _observed(thing):
        return UNSEEN
    spec, status = thing["spec"], thing.get("status") or {}
    wanted, strategy = spec.get("replicas", 1), spec.get("updateStrategy") or {}
    if (count := status.get("readyReplicas") or 0) < wanted:
        return Verdict(ready=False, text=f"{count} of {wanted} pods ready")
    if strategy.get("type") == "OnDelete":
        return READY
    # Pods below the partition stay as they are.
    moved = wanted - ((strategy.get("rollingUpdate") or {}).get("partition") or 0)
    if status.get("currentRevision") != status.get("updateRevision") and (status.get("updatedReplicas") or 0) < moved:
        return Verdict(ready=False, text=f"{status.get('updatedReplicas') or 0} of {moved} pods updated")
    return READY


def job(thing: Object, get: Get) -> Verdict:  # noqa: ARG001
    failed = condition(thing, "Failed")
    if failed.get("status") == "True":
        return Verdict(ready=False, text=f"the job failed{_reason(failed)}", failed=True)
    if condition(thing, "Complete").get("status") == "True" or thing["spec"].get("suspend"):
        return READY
    status = thing.get("status") or {}
    done, wanted = status.get("succeeded") or 0, thing["spec"].get("completions") or 1
    return Verdict(ready=False, text=f"{done} of {wanted} pods succeeded, {status.get('failed') or 0} failed")


def pod(thing: Object, get: Get) -> Verdict:  # noqa: ARG001
    phase = (thing.get("status") or {}).get("phase")
    if phase == "Failed":
        return Verdict(ready=False, text=f"the pod failed{_reason(thing['status'])}", failed=True)
    return READY if phase == "Succeeded" else _is(thing, "Ready")


def service(thing: Object, get: Get) -> Verdict:
    """Addresses are given; pods behind it are ready. No pods at all is no fault: the official provider lets it pass."""
    spec, name = thing["spec"], thing["metadata"]["name"]
    kind = spec.get("type", "ClusterIP")
    if kind == "ExternalName":
        return READY
    if not spec.get("clusterIP"):
        return Verdict(ready=False, text="waiting for a cluster address")
    if kind == "LoadBalancer" and not ((thing.get("status") or {}).get("loadBalancer") or {}).get("ingress"):
        return Verdict(ready=False, text="waiting for the load balancer's address")
    if spec["clusterIP"] == "None" or not spec.get("selector"):
        return READY
    namespace = thing["metadata"]["namespace"]
    selector = f"labelSelector=kubernetes.io%2Fservice-name%3D{name}"
    found = get(f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices?{selector}") or {}
    slices = found.get("items") or []
    if not slices:
        return Verdict(ready=False, text="waiting for its endpoints to be listed")
    pending = [
        end
        for one in slices
        for end in one.get("endpoints") or []
        if not (end.get("conditions") or {}).get("ready", True)
        and not (end.get("conditions") or {}).get("terminating", False)
    ]
    return Verdict(ready=False, text=f"{len(pending)} of its pods are not ready") if pending else READY


def definition(thing: Object, get: Get) -> Verdict:  # noqa: ARG001
    names = condition(thing, "NamesAccepted")
    if names.get("status") == "False":
        return Verdict(ready=False, text=f"its names are not accepted{_reason(names)}", failed=True)
    return _is(thing, "Established")


def namespace(thing: Object, get: Get) -> Verdict:  # noqa: ARG001
    phase = (thing.get("status") or {}).get("phase")
    return READY if phase == "Active" else Verdict(ready=False, text=f"its phase is {phase}, not Active")


def claim(thing: Object, get: Get) -> Verdict:
    phase = (thing.get("status") or {}).get("phase")
    if phase == "Bound":
        return READY
    if phase == "Lost":
        return Verdict(ready=False, text="its volume is lost", failed=True)
    name = thing["spec"].get("storageClassName")
    storage = get(f"/apis/storage.k8s.io/v1/storageclasses/{name}") if name else None
    if phase == "Pending" and storage and storage.get("volumeBindingMode") == "WaitForFirstConsumer":
        return READY  # a pod's turn comes first
    return Verdict(ready=False, text=f"its phase is {phase}, not Bound")


def volume(thing: Object, get: Get) -> Verdict:  # noqa: ARG001
    phase = (thing.get("status") or {}).get("phase")
    if phase in ("Available", "Bound"):
        return READY
    return Verdict(ready=False, text=f"its phase is {phase}, not Available", failed=phase == "Failed")


def token(thing: Object, get: Get) -> Verdict:  # noqa: ARG001
    """A service account's token is written by a controller; other Secrets are what they are."""
    if thing.get("type") != "kubernetes.io/service-account-token" or thing.get("data"):
        return READY
    return Verdict(ready=False, text="waiting for its token")


JUDGES: dict[tuple[str, str], Judge] = {
    ("apps/v1", "Deployment"): deployment,
    ("apps/v1", "DaemonSet"): daemon_set,
    ("apps/v1", "StatefulSet"): stateful_set,
    ("batch/v1", "Job"): job,
    ("v1", "Pod"): pod,
    ("v1", "Service"): service,
    ("v1", "Namespace"): namespace,
    ("v1", "PersistentVolumeClaim"): claim,
    ("v1", "PersistentVolume"): volume,
    ("v1", "Secret"): token,
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): definition,
    ("apiregistration.k8s.io/v1", "APIService"): lambda thing, get: _is(thing, "Available"),  # noqa: ARG005
}
