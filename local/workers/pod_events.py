"""What a kubelet says of a pod in events, in the real one's words: pkg/kubelet/events of Kubernetes 1.36."""

import time
from typing import Any

from kube_http import MERGE, Answer, Kube

from .pod_container import stamp
from .unit import say

Json = dict[str, Any]
# What is said again within that time is counted later, with the next one.
AGAIN_SECONDS = 60.0


class Said:
    """One event: how often, and when the API was told last, by the monotonic clock."""

    def __init__(self, name: str, first: str) -> None:
        self.name, self.first, self.times, self.told = name, first, 0, 0.0


class PodEvents:
    """Of one pod. What the API does not take is left out: an event is no reason to do anything else later."""

    def __init__(self, api: Kube, node: str, pod: Json) -> None:
        self.api, self.node, self.meta = api, node, pod["metadata"]
        self.known: dict[tuple[str, str, str], Said] = {}

    def warn(self, reason: str, message: str, container: str = "") -> None:
        self.say("Warning", reason, message, container)

    def say(self, kind: str, reason: str, message: str, container: str = "") -> None:
        now, at = time.monotonic(), stamp()
        said = self.known.setdefault((reason, message, container), Said(f"{self.meta['name']}.{time.time_ns():x}", at))
        said.times += 1
        if said.told and now - said.told < AGAIN_SECONDS:
            return
        first, said.told = not said.told, now
        try:
            self._tell(said, (kind, reason, message, container), at, first=first)
        except (OSError, Answer) as error:
            say(f"pod {self.meta['namespace']}/{self.meta['name']}: its event {reason} is lost: {error}")

    def _tell(self, said: Said, what: tuple[str, str, str, str], at: str, *, first: bool) -> None:
        """Raises OSError, Answer."""
        kind, reason, message, container = what
        space = self.meta["namespace"]
        path = f"/api/v1/namespaces/{space}/events"
        if not first:
            self.api.ask("PATCH", f"{path}/{said.name}", {"count": said.times, "lastTimestamp": at}, MERGE)
            return
        about = {"apiVersion": "v1", "kind": "Pod", "namespace": space}
        about |= {"name": self.meta["name"], "uid": self.meta["uid"]}
        if container:
            about["fieldPath"] = f"spec.containers{{{container}}}"
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": said.name, "namespace": space},
            "involvedObject": about,
            "type": kind,
            "reason": reason,
            "message": message[:1024],
            "count": said.times,
            "firstTimestamp": said.first,
            "lastTimestamp": at,
            "source": {"component": "kubelet", "host": self.node},
            "reportingComponent": "kubelet",
            "reportingInstance": self.node,
        }
        self.api.ask("POST", path, event)
