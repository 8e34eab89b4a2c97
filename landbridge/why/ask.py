"""From what is asked about to a case: one pod, of a run the host that tells most."""

from evidence.judge import judge
from landbridge.errors import LandbridgeError, UsageError

from .case import Case
from .concerns import Host, attempt
from .looking import Looking
from .target import NODE, POD, Target

# Of a run's hosts one that failed tells most.
TELLING = ("Failed", "Pending", "Running")


def case(looking: Looking, wanted: Target, namespace: str, days: float) -> Case:
    """Raises KubeError, UsageError and LandbridgeError."""
    if wanted.kind == NODE:
        found = looking.node(wanted.name)
    elif name := wanted.name if wanted.kind == POD else _of_work(looking, wanted, namespace):
        found = looking.pod(namespace, name)
    else:
        found = looking.work(wanted.kind, namespace, wanted.name)
    if found is not None:
        return found
    beside = "".join(f" It could not look at {one}." for one in looking.blind)
    log = f", nor do the records of the last {days:g} days."
    if wanted.kind == NODE:
        raise LandbridgeError(
            f"The cluster has no node {wanted.name}{log}{beside} `landbridge kubectl get nodes` shows all."
        )
    where = "`landbridge why` without a name shows what died there last; --namespace NAME looks elsewhere."
    raise LandbridgeError(f"The namespace {namespace} has no {wanted.kind} {wanted.name}{log}{beside} {where}")


def only_space(looking: Looking, wanted: Target) -> str:
    """The namespace of what an operator names without one. Raises KubeError and UsageError."""
    if wanted.kind == NODE:
        return ""
    found = looking.spaces(wanted.kind, wanted.name)
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{wanted} is in {', '.join(found)}. Say which is meant: --namespace NAME.")
    raise UsageError(f"No namespace has {wanted}, or had it. Say where it was: --namespace NAME, or --team NAME.")


def _of_work(looking: Looking, wanted: Target, namespace: str) -> str:
    """Of the newest attempt the pod that failed first, else one that does not start, else any. Empty without pods."""
    found = looking.hosts(wanted.kind, namespace, wanted.name)
    if not found:
        return ""
    newest = max(attempt(one.pod) for one in found)
    mine = [one for one in found if attempt(one.pod) == newest]
    return str(min(mine, key=_telling).pod["metadata"]["name"])


def _telling(host: Host) -> tuple[int, float, str]:
    phase = str((host.pod.get("status") or {}).get("phase"))
    rank = TELLING.index(phase) if phase in TELLING else len(TELLING)
    return rank, judge(host.seen).at, str(host.pod["metadata"]["name"])
