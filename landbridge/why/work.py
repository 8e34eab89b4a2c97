"""What a pod's end means for the work: whether another one comes, from where it goes on, and what is left. Pure."""

from evidence.observation import Json

from .case import GONE, Case
from .target import NODE, POD

# Who makes another pod, as people call it.
SETS = {"ReplicaSet": "Deployment", "StatefulSet": "StatefulSet", "DaemonSet": "DaemonSet"}


def meaning(case: Case) -> str:
    """A sentence or two."""
    if case.kind == NODE:
        return _node(case)
    if case.phase == GONE and case.kind != POD:
        return "It is gone, and nothing of it starts again. `landbridge runs again` launches a run once more."
    owner: Json = next(iter(case.thing["metadata"].get("ownerReferences") or []), {})
    if (run := case.works.get("JobSet")) is not None:
        return _run(run, case)
    if (job := case.works.get("Job")) is not None:
        return _job(job)
    if kind := SETS.get(str(owner.get("kind"))):
        return f"Its {kind} makes another one."
    if owner:
        return f"It belonged to {owner['kind']} {owner['name']}, which is gone: nobody makes another one."
    return "It belonged to nothing: nobody makes another one."


def _node(case: Case) -> str:
    if case.phase == "ready":
        return "It is ready: what is there runs on." + (" Nothing new comes." if _cordoned(case.thing) else "")
    if case.phase == "gone":
        return (
            "What ran there has ended with it, and is made anew by whoever made it: `landbridge why pod/NAME` for each."
        )
    return "Nobody hears of what runs there: it may well go on."


def _cordoned(node: Json) -> bool:
    return bool((node.get("spec") or {}).get("unschedulable"))


def _run(run: Json, case: Case) -> str:
    spec, status, name = run["spec"], run.get("status") or {}, run["metadata"]["name"]
    policy = spec.get("failurePolicy") or {}
    most, counted = int(policy.get("maxRestarts") or 0), int(status.get("restartsCountTowardsMax") or 0)
    if ended := status.get("terminalState"):
        return f"Its run {name} has ended: {str(ended).lower()}, with {counted} of {most} restarts used."
    if spec.get("suspend"):
        return f"Its run {name} waits in its queue, and starts again as a whole{_from(case.thing)}."
    again = f"A restart is of all its hosts{_from(case.thing)}; {counted} of {most} are used."
    return f"Its run {name} goes on. {again}"


def _from(pod: Json) -> str:
    return f", from what it wrote to {found}" if (found := _variable(pod, "CHECKPOINT_DIR")) else ", from its beginning"


def _variable(pod: Json, name: str) -> str:
    """Those of ours have plain values."""
    for container in pod["spec"].get("containers") or []:
        for one in container.get("env") or []:
            if one["name"] == name:
                return str(one.get("value", ""))
    return ""


def _job(job: Json) -> str:
    spec, status, name = job["spec"], job.get("status") or {}, job["metadata"]["name"]
    for one in status.get("conditions") or []:
        if one["status"] == "True" and one["type"] in ("Failed", "Complete"):
            return f"Its Job {name} has ended: {one['type'].lower()}."
    failed, most = int(status.get("failed") or 0), int(spec.get("backoffLimit") or 0)
    return f"Its Job {name} makes another one: {failed} of {most + 1} pods have failed."
