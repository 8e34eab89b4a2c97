"""A pod's status as the real kubelet tells it, from its containers. Pure."""

from collections.abc import Iterable, Sequence
from typing import Any

from .pod_container import INIT, MAIN, SIDECAR, PodContainer

Json = dict[str, Any]
KINDS = ("PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready")
FINAL = ("Succeeded", "Failed")


def phase(containers: Sequence[PodContainer], *, stopping: bool) -> str:
    """`stopping`: nothing is started any more. A pod whose containers never ran has failed by then."""
    mains = [one for one in containers if one.kind == MAIN]
    if any(one.running for one in containers):
        return "Running" if all(begun(one) for one in mains) else "Pending"
    if any(one.kind == INIT and one.over and not one.done for one in containers):
        return "Failed"
    if stopping or all(one.over for one in mains):
        return "Succeeded" if all(one.done for one in mains) else "Failed"
    return "Running" if all(begun(one) for one in mains) else "Pending"


def begun(container: PodContainer) -> bool:
    """Now or once."""
    return bool(container.running or container.last or container.over)


def conditions(containers: Sequence[PodContainer], *, laid: bool, now_phase: str, trouble: str) -> list[Json]:
    """Without times. `laid`: its volumes are there; `trouble`: why no container is started."""
    final = now_phase in FINAL
    reason = {"Succeeded": "PodCompleted", "Failed": "PodFailed"}.get(now_phase, "ContainersNotReady")
    waits = [one.name for one in containers if not (one.done if one.kind == INIT else one.kind == MAIN or one.started)]
    if now_phase == "Succeeded" or any(one.kind == MAIN and begun(one) for one in containers):
        # A sidecar that is started anew later changes nothing of that.
        waits = []
    serving = [one for one in containers if one.kind in (MAIN, SIDECAR)]
    unready = [one.name for one in serving if not one.ready]
    message = "" if final else trouble or f"containers with unready status: [{' '.join(unready)}]"
    ready = _condition(good=not final and not unready, reason=reason, message=message)
    incomplete = f"containers with incomplete status: [{' '.join(waits)}]"
    return [
        {"type": KINDS[0], "status": str(laid and not final)},
        {"type": KINDS[1], **_condition(good=not waits, reason="ContainersNotInitialized", message=incomplete)},
        {"type": KINDS[2], **ready},
        {"type": KINDS[3], **ready},
    ]


def _condition(*, good: bool, reason: str, message: str) -> Json:
    return {"status": "True"} if good else {"status": "False", "reason": reason, "message": message}


def dated(current: Iterable[Json], before: Iterable[Json], now: str) -> list[Json]:
    """A condition keeps the moment of its last change. What no longer has a reason is told so, or it would stay."""
    known = {one["type"]: one for one in before}
    return [
        {
            "reason": None,
            "message": None,
            **one,
            "lastTransitionTime": found["lastTransitionTime"]
            if (found := known.get(one["type"])) and found["status"] == one["status"]
            else now,
        }
        for one in current
    ]


def status(
    containers: Sequence[PodContainer],
    stored: Json,
    *,
    laid: bool,
    stopping: bool,
    trouble: str,
    verdict: dict[str, str],
    address: str,
    own: str,
    started: str,
    now: str,
) -> Json:
    """What is patched into the pod's status, which was `stored` before. With a `verdict` it fails, however it ends.

    `address` is its node's, and `own` its own once it is `laid`.
    """
    how = "Failed" if verdict and stopping else phase(containers, stopping=stopping)
    found = conditions(containers, laid=laid, now_phase=how, trouble=trouble)
    mine: Json = {
        "phase": how,
        "startTime": stored.get("startTime") or started,
        "hostIP": address,
        "hostIPs": [{"ip": address}],
        "conditions": dated(found, stored.get("conditions") or [], now),
        "containerStatuses": [one.status() for one in containers if one.kind == MAIN],
    }
    if verdict and stopping:
        mine |= verdict
    if laid:
        # The API merges lists: after a kubelet's restart there may be another one.
        mine |= {"podIP": own, "podIPs": [{"$patch": "replace"}, {"ip": own}]}
    if before := [one.status() for one in containers if one.kind != MAIN]:
        mine["initContainerStatuses"] = before
    return mine


def overwritten(sent: Json, stored: Json) -> bool:
    """Whether others wrote over what counts: the phase, or a condition."""
    mine = {one["type"]: one["status"] for one in sent["conditions"]}
    found = {one["type"]: one["status"] for one in stored.get("conditions") or []}
    return sent["phase"] != stored.get("phase") or any(found.get(kind) != value for kind, value in mine.items())
