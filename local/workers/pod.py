"""The life of one pod that the kubelet runs itself, in a thread of its own: what happens next, and what is told."""

import contextlib
import queue
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kube_http import Answer

from . import container_logs, fields, images, names
from .background import vital
from .containers import Broken, NotRunning, Running, last_words
from .environment import Lacking, Place
from .pod_container import INIT, MAIN, SIDECAR, PodContainer, pod_containers
from .pod_events import PodEvents
from .probes import KINDS, Prober, Verdict
from .process import become
from .report import Node, Report
from .unit import say
from .volumes import Volumes, drop

Json = dict[str, Any]
RETRY_SECONDS, NO_PROGRAM_SECONDS, ADDRESS_SECONDS = 2.0, 30.0, 0.2
# What the API server fills in where a pod says nothing.
GRACE_SECONDS = 30
# The real kubelet's words.
DEADLINE = {"reason": "DeadlineExceeded", "message": "Pod was active on the node longer than the specified deadline"}


class Life:
    def __init__(self, node: Node, pod: Json) -> None:
        self.node, self.pod = node, pod
        self.spec, self.api = pod["spec"], Report(node, pod)
        self.events = PodEvents(node.api, node.name, pod)
        self.title = f"{self.api.meta['namespace']}/{self.api.meta['name']}"
        self.inbox: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.folder = node.folder / pod["metadata"]["uid"]
        self.logs = node.logs / f"{self.title.replace('/', '_')}_{pod['metadata']['uid']}"
        self.volumes = Volumes(node.api, pod, self.folder / "volumes")
        self.names = names.of_pod(node, pod, self.folder / "hosts")
        self.containers = pod_containers(pod)
        self.probers: dict[str, list[Prober]] = {}
        self.complete = self.api.closed
        self.initialized = False
        self.address = ""
        self.laid, self.trouble, self.problems = False, "", [] if self.complete else fields.refusals(pod)
        # By the monotonic clock; `turned` is the last time that everything was looked at.
        self.retry_at = self.kill_at = self.turned = 0.0
        self.deadline_at = self.api.deadline(self.spec.get("activeDeadlineSeconds"))
        self.reported_trouble = ""
        self.stopping = self.gone = self.over = False
        for problem in self.problems:
            say(f"pod {self.title}: refused: {problem}")

    # From other threads.

    def tell(self, pod: Json | None) -> None:
        """What the API has of it now; None: nothing any more."""
        self.inbox.put(lambda: self.hear(pod))

    def start(self) -> None:
        threading.Thread(target=vital, args=(self.run,), daemon=True).start()

    def output(self, name: str, *, previous: bool) -> container_logs.Log:
        """What a container of it has printed. Raises container_logs.NoLog."""
        container = self.named(name)
        if container is None:
            raise container_logs.NoLog(f'container "{name}" in pod "{self.api.meta["name"]}" not found')
        return container_logs.find(self.logs, self.api.meta["name"], container, previous=previous)

    def inside(self, name: str) -> PodContainer:
        """A container of it that runs. Raises NotRunning."""
        container = self.named(name)
        if container is None or not container.running:
            why = "not found" if container is None else "is not running"
            raise NotRunning(f'container "{name}" in pod "{self.api.meta["name"]}" {why}')
        return container

    def named(self, name: str) -> PodContainer | None:
        return next((one for one in self.containers if one.name == name), None)

    # In its own.

    def run(self) -> None:
        self.sync(time.monotonic())
        while not self.over:
            with contextlib.suppress(queue.Empty):
                self.inbox.get(timeout=self.pause())()
            self.sync(time.monotonic())

    def pause(self) -> float | None:
        """Until something is due; None: nothing is."""
        moments = [
            self.retry_at,
            self.kill_at,
            self.deadline_at or 0.0,
            *(one.kill_at or 0.0 for one in self.containers),
        ]
        if not self.stopping and not self.complete:
            moments += [one.not_before for one in self.containers if not one.running and not one.over]
        due = [moment for moment in moments if moment > self.turned]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def hear(self, pod: Json | None) -> None:
        if pod is None:
            self.gone = True
            return
        if other := [one["name"] for one, mine in self.pairs(pod) if one["image"] != mine["image"]]:
            say(f"pod {self.title}: other images of {', '.join(other)} are not honoured while it runs")
        if pod["spec"].get("ephemeralContainers"):
            say(f"pod {self.title}: ephemeral containers are not honoured")
        self.api.hear(pod)

    def pairs(self, pod: Json) -> Any:
        return zip(images.containers(pod), images.containers(self.pod), strict=False)

    def sync(self, now: float) -> None:
        self.turned, self.retry_at = now, 0.0
        for container in self.containers:
            if container.running and container.kill_at is not None and container.kill_at <= now:
                container.running.send(signal.SIGKILL)
        if self.leaving:
            if not self.wind_down(now, self.grace()):
                return self.finish()
        else:
            if self.deadline_at and now >= self.deadline_at and not self.complete:
                self.complete, self.api.verdict = True, DEADLINE
                self.events.say("Normal", DEADLINE["reason"], DEADLINE["message"])
            if not self.complete:
                self.advance(now)
            if self.complete:
                self.wind_down(now, self.patience)
        return self.report()

    def advance(self, now: float) -> None:
        """Starts what may be started."""
        if self.problems:
            self.hold("CreateContainerConfigError", f"not honoured on local machines: {'; '.join(self.problems)}")
            return
        if lacking := images.missing(self.pod):
            self.without_programs(lacking, now)
            return
        if not self.laid and not (self.placed(now) and self.lay(now)):
            return
        mains = [one for one in self.containers if one.kind == MAIN]
        self.initialized = self.initialized or self.initialize(now)
        if self.initialized:
            for container in self.containers:
                self.keep(container, now)
            self.complete = all(one.over for one in mains)

    def initialize(self, now: float) -> bool:
        """One after another: init containers to their end, and sidecars until they are up. True once all are."""
        for container in (one for one in self.containers if one.kind != MAIN):
            if container.kind == INIT and container.over:
                self.complete = not container.done
            else:
                self.keep(container, now)
            if self.complete or not (container.done if container.kind == INIT else container.started):
                return False
        return True

    def hold(self, reason: str, message: str) -> None:
        self.trouble = message
        for container in self.containers:
            container.wait(reason, message)

    def without_programs(self, lacking: dict[str, str], now: float) -> None:
        self.trouble = "; ".join(lacking.values())
        self.retry_at = now + NO_PROGRAM_SECONDS
        for container in self.containers:
            if container.name in lacking:
                never = container.container.get("imagePullPolicy") == "Never"
                container.wait("ErrImageNeverPull" if never else "ImagePullBackOff", lacking[container.name])
                if not self.api.sent:
                    say(f"pod {self.title}: container {container.name} waits: {lacking[container.name]}")

    def placed(self, now: float) -> bool:
        """Whether it has an address, which it keeps."""
        if not self.address:
            self.address = self.node.overlay.of(self.pod) or ""
        if not self.address:
            self.retry_at = now + ADDRESS_SECONDS
        return bool(self.address)

    def lay(self, now: float) -> bool:
        try:
            self.volumes.lay()
            if self.names:
                self.names.lay(self.address)
        except (OSError, ValueError, Answer, Lacking) as error:
            self.trouble = f"its volumes: {error}"
            self.events.warn("FailedMount", f"Unable to attach or mount volumes: {error}")
            self.later(self.trouble, now)
            for container in self.containers:
                container.wait("ContainerCreating" if container.kind == MAIN else "PodInitializing", self.trouble)
            return False
        self.laid, self.trouble = True, ""
        for container in self.containers:
            if not container.over:
                container.wait("PodInitializing")
        self.volumes.keep(self.title)
        return True

    def later(self, trouble: str, now: float) -> None:
        """Says it once, and tries again soon."""
        if trouble != self.reported_trouble:
            say(f"pod {self.title}: {trouble}")
        self.reported_trouble, self.retry_at = trouble, now + RETRY_SECONDS

    def keep(self, container: PodContainer, now: float) -> None:
        """Starts the container if it is not running, and its time has come."""
        if container.running or container.over or now < container.not_before:
            return None
        log = self.log(container)
        try:
            hosts = self.names.file if self.names else None
            place = Place(self.node.address, self.address, self.node.api.server)
            made = become(self.pod, container.container, place, self.volumes, hosts)
            for remark in made.remarks:
                say(f"pod {self.title}: {container.name}: {remark}")
            container.begin(Running(made.become, log, self.on_end), now)
        except (OSError, Answer, Lacking) as error:
            container.wait("CreateContainerConfigError", str(error))
            self.trouble = f"{container.name}: {error}"
            self.events.warn("Failed", f"Error: {error}", container.name)
            return self.later(self.trouble, now)
        except Broken as error:
            say(f"pod {self.title}: {container.name} did not start: {error}")
            self.events.warn("Failed", f"Error: {error}", container.name)
            container.begun = 0.0
            container.end(128, now, str(error), stopping=False, reason="StartError")
            container.not_before = max(container.not_before, now + RETRY_SECONDS)
            return None
        self.trouble = ""
        if not container.started:
            return self.probe(container, "startupProbe")
        return self.probe(container, "livenessProbe", "readinessProbe")

    def log(self, container: PodContainer) -> Path:
        """Those of the last two runs stay."""
        folder = self.logs / container.name
        for old in (f"{container.restarts - 2}.log", f"{container.restarts - 2}.log.1"):
            (folder / old).unlink(missing_ok=True)
        return folder / f"{container.restarts}.log"

    def probe(self, container: PodContainer, *kinds: str) -> None:
        for kind in kinds:
            if container.running and kind in container.container:
                made = Prober(
                    kind, container.container, container.running, self.address, container.begun, self.on_probe
                )
                self.probers.setdefault(container.name, []).append(made)

    # What containers and probes say, from their threads.

    def on_end(self, running: Running, code: int) -> None:
        self.inbox.put(lambda: self.ended(running, code))

    def on_probe(self, kind: str, running: Running, verdict: Verdict) -> None:
        self.inbox.put(lambda: self.probed(kind, running, verdict))

    def ended(self, running: Running, code: int) -> None:
        container = next(one for one in self.containers if one.running is running)
        for prober in self.probers.pop(container.name, []):
            prober.stopped.set()
        running.close()
        from_log = container.container.get("terminationMessagePolicy") == "FallbackToLogsOnError"
        message = last_words(running.log) if code and from_log else ""
        seconds = container.end(code, time.monotonic(), message, stopping=self.stopping or self.leaving)
        again = "" if seconds is None else f", and is started again in {seconds:.0f} s"
        say(f"pod {self.title}: {container.name} has ended with exit code {code}{again}")

    def probed(self, kind: str, running: Running, verdict: Verdict) -> None:
        container = next((one for one in self.containers if one.running is running), None)
        if container is None or self.stopping:
            return
        if not verdict.well:
            say(f"pod {self.title}: {container.name}: {KINDS[kind]} probe failed: {verdict.why}")
            self.events.warn("Unhealthy", f"{KINDS[kind]} probe failed: {verdict.why}", container.name)
        if kind == "readinessProbe":
            container.ready = verdict.well
        elif not verdict.well:
            grace = container.container[kind].get("terminationGracePeriodSeconds")
            again = ", will be restarted" if container.again(1) else ""
            self.events.say(
                "Normal", "Killing", f"Container {container.name} failed {kind.removesuffix('Probe')} probe{again}"
            )
            running.send(signal.SIGTERM)
            container.kill_at = time.monotonic() + (self.patience if grace is None else grace)
        elif kind == "startupProbe":
            for prober in self.probers.pop(container.name, []):
                prober.stopped.set()
            container.started = True
            container.ready = "readinessProbe" not in container.container
            self.probe(container, "livenessProbe", "readinessProbe")

    # Its end.

    @property
    def leaving(self) -> bool:
        return self.gone or bool(self.api.meta.get("deletionTimestamp"))

    @property
    def patience(self) -> float:
        return float(self.spec.get("terminationGracePeriodSeconds", GRACE_SECONDS))

    def grace(self) -> float:
        if self.gone:
            return self.patience
        return float(self.api.meta.get("deletionGracePeriodSeconds") or 0)

    def wind_down(self, now: float, grace: float) -> bool:
        """Ends its containers, sidecars last and one by one. True while some are left."""
        if not self.stopping:
            self.stopping = True
            self.volumes.leave()
            if self.names:
                self.names.leave()
            for prober in (one for made in self.probers.values() for one in made):
                prober.stopped.set()
        left = [one for one in self.containers if one.running]
        self.kill_at = min(self.kill_at or now + grace, now + grace)
        first = [one for one in left if one.kind != SIDECAR] or left[-1:]
        for container in first:
            if container.running and not container.stop_requested:
                container.stop_requested = True
                container.running.send(signal.SIGTERM)
        if now >= self.kill_at:
            for container in left:
                if container.running:
                    container.running.send(signal.SIGKILL)
        return bool(left)

    def finish(self) -> None:
        """Nothing of it runs any more: that is told, and it is taken away."""
        self.kill_at = 0.0
        try:
            if not self.gone:
                self.send()
                self.api.delete()
        except OSError as error:
            return self.later(str(error), time.monotonic())
        except Answer as answer:
            # Gone by other hands, or another one by that name.
            if answer.status not in (404, 409):
                return self.later(str(answer), time.monotonic())
        self.over = True
        try:
            self.volumes.end()
            drop(self.folder)
        except OSError as error:
            say(f"pod {self.title}: its volumes stay: {error}")
        say(f"pod {self.title}: has ended")
        return None

    # What is told.

    def report(self) -> None:
        if self.gone:
            return
        try:
            self.send()
        except (OSError, Answer) as error:
            self.api.sent = {}
            if not (isinstance(error, Answer) and error.status in (404, 409)):
                self.later(str(error), time.monotonic())

    def send(self) -> None:
        """Raises OSError, Answer."""
        ended = self.stopping and not any(one.running for one in self.containers)
        self.api.send(self.containers, laid=self.laid, ended=ended, trouble=self.trouble, own=self.address)
