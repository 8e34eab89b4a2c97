"""Waiting until an object is ready, or gone; and what stands in its way when it does not come."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from . import wait_for
from .api import Api, ApiError, Unreachable
from .discovery import Kind
from .objects import SKIP_AWAIT, TIMEOUT, WAIT_FOR, annotation, flag, name_of, namespace_of
from .ready import JUDGES, READY, Verdict

SECONDS = 600.0  # the official provider's
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
# Kinds whose deletion skipAwait lets go too: https://github.com/pulumi/pulumi-kubernetes/issues/3154
UNWATCHED = {
    ("v1", "Namespace"),
    ("v1", "Pod"),
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("batch/v1", "Job"),
}
EVENTS = 5  # the newest warnings that a failure quotes


class NotReady(Exception):
    """It never came; the text says what is missing. `live` is how the object was last seen."""

    def __init__(self, text: str, live: Mapping[str, Any]) -> None:
        super().__init__(text)
        self.live = live


def verdict(api: Api, inputs: Mapping[str, Any], live: Mapping[str, Any]) -> Verdict:
    """Whether a live object is ready, as its annotations and its kind have it."""
    if flag(inputs, SKIP_AWAIT):
        return READY
    if wish := annotation(inputs, WAIT_FOR):
        return wait_for.judge(wish, live)
    judge = JUDGES.get((str(live.get("apiVersion")), str(live.get("kind"))))
    return judge(live, lambda path: _get(api, path)) if judge else READY


def seconds(inputs: Mapping[str, Any], timeout: float) -> float:
    """How long to wait: the resource option (customTimeouts), else the annotation, else ten minutes."""
    return timeout or float(annotation(inputs, TIMEOUT) or SECONDS)


def until_ready(
    api: Api,
    kind: Kind,
    inputs: Mapping[str, Any],
    live: Mapping[str, Any],
    timeout: float,
    tell: Callable[[str], None],
) -> Mapping[str, Any]:
    """The object once it is ready. Raises NotReady."""
    deadline, pause = time.monotonic() + seconds(inputs, timeout), FIRST_PAUSE
    path = kind.path(namespace_of(live), name_of(live))
    while True:
        found = verdict(api, inputs, live)
        if found.ready:
            return live
        tell(found.text)
        why = _end(api.cancelled, deadline, seconds(inputs, timeout))
        if found.failed or why:
            text = f"{found.text}{'' if found.failed else f' ({why})'}{_trouble(api, live)}"
            raise NotReady(text, live)
        api.cancelled.wait(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(pause * 1.5, LONGEST_PAUSE)
        observed = _get(api, path)
        if observed is None:
            raise NotReady("somebody deleted it while it was waited for", live)
        live = observed


def until_gone(
    api: Api,
    path: str,
    inputs: Mapping[str, Any],
    live: Mapping[str, Any],
    timeout: float,
    tell: Callable[[str], None],
) -> None:
    """Returns when the object is gone, or another has its name. Raises NotReady."""
    if flag(inputs, SKIP_AWAIT) and (live.get("apiVersion"), live.get("kind")) in UNWATCHED:
        return
    deadline, pause = time.monotonic() + seconds(inputs, timeout), FIRST_PAUSE
    uid = live["metadata"]["uid"]
    while True:
        observed = _get(api, path)
        if observed is None or observed["metadata"]["uid"] != uid:
            return
        obstacle = _obstacle(observed)
        tell(f"waiting until it is gone{obstacle}")
        if why := _end(api.cancelled, deadline, seconds(inputs, timeout)):
            raise NotReady(f"it is marked for deletion and not gone yet ({why}){obstacle}", observed)
        api.cancelled.wait(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(pause * 1.5, LONGEST_PAUSE)


def _end(cancelled: threading.Event, deadline: float, all_seconds: float) -> str:
    if cancelled.is_set():
        return "cancelled"
    return f"gave up after {all_seconds:.0f} s" if time.monotonic() >= deadline else ""


def _obstacle(live: Mapping[str, Any]) -> str:
    finalizers = live["metadata"].get("finalizers") or []
    reasons = [f"finalizers {', '.join(finalizers)} hold it: their controllers must run"] if finalizers else []
    if live.get("kind") == "Namespace":  # what is left in it
        reasons += [
            str(one.get("message"))
            for one in (live.get("status") or {}).get("conditions") or []
            if one.get("status") == "True"
        ]
    return f": {'; '.join(reasons)}" if reasons else ""


def _trouble(api: Api, live: Mapping[str, Any]) -> str:
    """What the object's pods and the newest warnings about it say, for the error that ends the wait."""
    namespace = namespace_of(live)
    if not namespace:
        return ""
    try:
        lines = [*_pods(api, live, namespace), *_warnings(api, live, namespace)]
    except (ApiError, Unreachable):
        return ""
    return "".join(f"\n  {line}" for line in dict.fromkeys(lines))


def _pods(api: Api, live: Mapping[str, Any], namespace: str) -> list[str]:
    labels = (((live.get("spec") or {}).get("selector") or {}).get("matchLabels")) or {}
    if not labels or live.get("kind") == "PersistentVolumeClaim":
        return []
    selector = quote(",".join(f"{key}={value}" for key, value in labels.items()))
    pods = api.call("GET", f"/api/v1/namespaces/{namespace}/pods?labelSelector={selector}&limit=20", patience=0)
    lines = []
    for pod in pods.get("items") or []:
        status = pod.get("status") or {}
        states = [one.get("state") or {} for one in status.get("containerStatuses") or []]
        reasons = [state["waiting"] for state in states if state.get("waiting")]
        reasons += [one for one in status.get("conditions") or [] if one.get("reason") == "Unschedulable"]
        lines += [f"pod {name_of(pod)}: {one.get('reason')}: {one.get('message', '')}" for one in reasons]
    return lines[:EVENTS]


def _warnings(api: Api, live: Mapping[str, Any], namespace: str) -> list[str]:
    uid = live["metadata"]["uid"]
    events = api.call(
        "GET",
        f"/api/v1/namespaces/{namespace}/events",
        {"fieldSelector": f"involvedObject.uid={uid},type=Warning"},
        patience=0,
    )
    newest = sorted(events.get("items") or [], key=lambda one: str(one.get("lastTimestamp") or ""))[-EVENTS:]
    return [f"warning: {one.get('reason')}: {one.get('message')}" for one in newest]


def _get(api: Api, path: str) -> dict[str, Any] | None:
    try:
        return api.call("GET", path)
    except ApiError as error:
        if error.code == 404:
            return None
        raise
