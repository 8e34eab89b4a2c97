"""One container of a pod: what it is now, when it is started again, and what its status says."""

import time
from datetime import UTC, datetime
from typing import Any

from . import images
from .containers import Running

Json = dict[str, Any]
# "Container restarts" of the page "Pod Lifecycle": at once, then after 10 s, 20 s … 300 s; ten good minutes reset it.
FIRST_SECONDS, MOST_SECONDS, RESET_SECONDS = 10.0, 300.0, 600.0
INIT, SIDECAR, MAIN = "init", "sidecar", "main"
LOST = {
    "exitCode": 137,
    "reason": "ContainerStatusUnknown",
    "message": "it ended with the kubelet, or with its machine",
}


def stamp() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


class Backoff:
    """How long to wait before the next start."""

    def __init__(self) -> None:
        self.next_seconds = 0.0

    def after(self, ran_seconds: float) -> float:
        if ran_seconds >= RESET_SECONDS:
            self.next_seconds = 0.0
        now = self.next_seconds
        self.next_seconds = min(max(2 * now, FIRST_SECONDS), MOST_SECONDS)
        return now


class PodContainer:
    """`before` is the container's status from before this kubelet's start, if there is one."""

    def __init__(self, container: Json, kind: str, policy: str, before: Json | None) -> None:
        self.container, self.kind, self.policy = container, kind, policy
        self.name: str = container["name"]
        self.running: Running | None = None
        self.begun = 0.0  # by the monotonic clock, as `not_before` and `kill_at`
        self.since = 0.0  # the same by Unix time
        self.not_before = 0.0
        self.kill_at: float | None = None
        self.stop_requested = False
        self.backoff = Backoff()
        self.over = False  # it is not started again
        self.ready = self.started = False
        self.restarts = 0
        self.state: Json = {"waiting": {"reason": "PodInitializing"}}
        self.last: Json = {}
        if before:
            self.take_up(before)

    def take_up(self, before: Json) -> None:
        """What an earlier kubelet said of it: its processes ended with it."""
        state, self.restarts, self.last = (
            before.get("state") or {},
            before["restartCount"],
            before.get("lastState") or {},
        )
        ended, ran = state.get("terminated"), state.get("running")
        if ended and self.kind == MAIN and not self.again(ended["exitCode"]):
            self.state, self.over = state, True
        elif ended or ran:
            times = {"startedAt": ran["startedAt"], "finishedAt": stamp()} if ran else {}
            self.last = {"terminated": ended or {**LOST, **times}}
            # A plain init container runs again with its pod, as after a machine's restart.
            self.restarts += self.kind != INIT

    @property
    def done(self) -> bool:
        """An init container that did its work, or a container that is through."""
        return self.over and self.code == 0

    @property
    def code(self) -> int | None:
        ended = self.state.get("terminated")
        return int(ended["exitCode"]) if ended else None

    def again(self, code: int) -> bool:
        if self.kind == SIDECAR:
            return True
        if self.kind == INIT:
            return code != 0 and self.policy != "Never"
        return self.policy == "Always" or (self.policy == "OnFailure" and code != 0)

    def wait(self, reason: str, message: str = "") -> None:
        self.state = {"waiting": {"reason": reason, **({"message": message} if message else {})}}

    def begin(self, running: Running, now: float) -> None:
        self.running, self.begun, self.kill_at, self.stop_requested = running, now, None, False
        self.since = time.time()
        self.state = {"running": {"startedAt": stamp()}}
        # Without a probe to wait for.
        self.started = "startupProbe" not in self.container
        self.ready = self.started and "readinessProbe" not in self.container

    def end(self, code: int, now: float, message: str, *, stopping: bool, reason: str = "") -> float | None:
        """It has ended, or not begun; in how many seconds it is started again, if it is."""
        begun = self.state.get("running", {}).get("startedAt") or stamp()
        terminated: Json = {"exitCode": code, "reason": reason or ("Error" if code else "Completed")}
        terminated |= {"startedAt": begun, "finishedAt": stamp(), **({"message": message} if message else {})}
        self.running = self.kill_at = None
        self.ready, self.started = self.kind == INIT and code == 0, False
        self.state = {"terminated": terminated}
        if stopping or not self.again(code):
            self.over = True
            return None
        seconds = self.backoff.after(now - self.begun if self.begun else 0.0)
        self.not_before = now + seconds
        self.last, self.restarts = {"terminated": terminated}, self.restarts + 1
        if seconds:
            text = f"back-off {seconds:.0f}s restarting failed container={self.name}"
            self.wait("CrashLoopBackOff", text)
        return seconds

    def status(self) -> Json:
        """ContainerStatus."""
        return {
            "name": self.name,
            "image": self.container["image"],
            "imageID": f"{images.BY_ITSELF}{images.repository(self.container['image'])}",
            "restartCount": self.restarts,
            "ready": self.ready,
            "started": self.started,
            "state": self.state,
            "lastState": self.last,
        }


def pod_containers(pod: Json) -> list[PodContainer]:
    """Init containers first, in their order."""
    status, spec = pod.get("status") or {}, pod["spec"]
    parts = [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]
    before = {one["name"]: one for one in parts}
    first = spec.get("initContainers") or []
    return [
        *(
            PodContainer(
                one, SIDECAR if one.get("restartPolicy") else INIT, spec["restartPolicy"], before.get(one["name"])
            )
            for one in first
        ),
        *(PodContainer(one, MAIN, spec["restartPolicy"], before.get(one["name"])) for one in spec["containers"]),
    ]
