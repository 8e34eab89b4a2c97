"""From what is asked about to a case: one pod, of a run the host that tells most, or the last deaths of a team."""

from collections.abc import Sequence

from evidence import pods
from evidence.causes import waiting
from evidence.judge import judge
from evidence.observation import Json
from landbridge.cluster.kube import Kube
from landbridge.errors import LandbridgeError, UsageError

from .case import ABOVE, Case, Looking, attempt
from .target import NODE, POD, Target

MOST_DEATHS = 20
# What a pod shows that has not failed, beside waiting.
ENDLESS = ("done", "completed", "deleting")
# Of a run's hosts one that failed tells most.
TELLING = ("Failed", "Pending", "Running")


def case(looking: Looking, wanted: Target, namespace: str, hours: float) -> Case:
    """Raises KubeError, UsageError and LandbridgeError."""
    if wanted.kind == NODE:
        found = looking.node(wanted.name)
    elif name := wanted.name if wanted.kind == POD else _of_work(looking.kube, wanted, namespace):
        found = looking.pod(namespace, name)
    else:
        found = looking.work(wanted.kind, namespace, wanted.name)
    if found is not None:
        return found
    log = "" if looking.log is None else f", nor does the audit log of the last {hours:g} hours"
    if wanted.kind == NODE:
        raise LandbridgeError(f"The cluster has no node {wanted.name}{log}. `landbridge kubectl get nodes` shows all.")
    where = "`landbridge why` without a name shows what died there last; --namespace NAME looks elsewhere."
    raise LandbridgeError(f"The namespace {namespace} has no {wanted.kind} {wanted.name}{log}. {where}")


def only_space(kube: Kube, wanted: Target) -> str:
    """The namespace of what an operator names without one. Raises KubeError and UsageError."""
    if wanted.kind == NODE:
        return ""
    what = "pods" if wanted.kind == POD else ABOVE[wanted.kind].asked
    listed = kube.get(what, "--all-namespaces", f"--field-selector=metadata.name={wanted.name}")["items"]
    found = sorted({str(one["metadata"]["namespace"]) for one in listed})
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{wanted} is in {', '.join(found)}. Say which is meant: --namespace NAME.")
    raise UsageError(f"No namespace has {wanted} now. Say where it was: --namespace NAME, or --team NAME.")


def _of_work(kube: Kube, wanted: Target, namespace: str) -> str:
    """Of the newest attempt the pod that failed first, else one that does not start, else any. Empty without pods."""
    chosen = f"--selector={ABOVE[wanted.kind].label}={wanted.name}"
    found = kube.get("pods", f"--namespace={namespace}", chosen)["items"]
    if not found:
        return ""
    newest = max(attempt(one) for one in found)
    mine = [one for one in found if attempt(one) == newest]
    return str(min(mine, key=_telling)["metadata"]["name"])


def _telling(pod: Json) -> tuple[int, float, str]:
    phase = str((pod.get("status") or {}).get("phase"))
    rank = TELLING.index(phase) if phase in TELLING else len(TELLING)
    return rank, judge(pods.of_pod(pod)).at, str(pod["metadata"]["name"])


def deaths(kube: Kube, where: str) -> Sequence[Json]:
    """Pods that failed, or whose containers did, as they are now: the newest first. Raises KubeError."""
    found = [one for one in kube.get("pods", where)["items"] if ended(one)]
    return sorted(found, key=ended, reverse=True)[:MOST_DEATHS]


def ended(pod: Json) -> float:
    """When it failed last; 0 where it did not."""
    seen = [one.at for one in pods.of_pod(pod) if one.code not in {*ENDLESS, *waiting()}]
    return max(seen, default=0.0)
