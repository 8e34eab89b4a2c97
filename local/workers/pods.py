"""The pods of this node that the kubelet runs itself: each has its life, from what is first heard of it to its end."""

import time
from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from kube_http import Json

from . import background, containers, images, usage, volumes
from .container_logs import Log, NoLog, Wanted
from .containers import NotRunning
from .devices import Advertised
from .gpus import Held
from .pod import Life
from .pod_container import PodContainer
from .report import Node

PODS = "/api/v1/pods"
# Logs of so many pods that have gone stay on the machine.
MOST_OLD_LOGS = 20
PLAYED = "is only simulated on this machine: nothing runs"


class Pods:
    def __init__(self, node: Node, devices: Sequence[Advertised | Held] = ()) -> None:
        self.node, self.devices = node, devices
        self.lives: dict[str, Life] = {}
        self.tidy = False

    def run(self) -> None:
        """For ever."""
        background.follow("pods of this node", self.follow)

    def follow(self) -> None:
        query = {"fieldSelector": f"spec.nodeName={self.node.name}"}
        listed = self.node.api.ask("GET", f"{PODS}?{urlencode(query)}")
        found = {pod["metadata"]["uid"]: pod for pod in listed["items"]}
        for uid in set(self.lives) - set(found):
            self.lives.pop(uid).tell(None)
        if not self.tidy:
            self.clear(found)
        for pod in found.values():
            self.hear(pod)
        for one in self.devices:
            one.listed(found.values())
        for kind, pod in self.node.api.watch(PODS, listed["metadata"]["resourceVersion"], query):
            if kind == "DELETED":
                if life := self.lives.pop(pod["metadata"]["uid"], None):
                    life.tell(None)
            else:
                self.hear(pod)
            for one in self.devices:
                one.heard(kind, pod)

    def hear(self, pod: Json) -> None:
        uid = pod["metadata"]["uid"]
        if life := self.lives.get(uid):
            life.tell(pod)
        elif images.real(pod):
            containers.prune(self.node.logs, {*self.lives, uid}, MOST_OLD_LOGS)
            self.lives[uid] = Life(self.node, pod)
            self.lives[uid].start()

    def log(self, namespace: str, name: str, container: str, asked: Wanted) -> Log:
        """Called from other threads. Raises NoLog."""
        life = self.named(namespace, name)
        if not life:
            raise NoLog(f"the pod {namespace}/{name} {PLAYED}, so nothing is printed")
        return life.output(container, previous=asked.previous)

    def inside(self, namespace: str, name: str, container: str) -> PodContainer:
        """A container that runs. Called from other threads. Raises NotRunning."""
        return self.real(namespace, name).inside(container)

    def runs(self, namespace: str, name: str) -> None:
        """Called from other threads. Raises NotRunning if the pod does not."""
        if not any(one.running for one in self.real(namespace, name).containers):
            raise NotRunning(f'no container in pod "{name}" is running')

    def used(self) -> str:
        """What runs here uses. Called from other threads."""
        found = [
            usage.Container(life.api.meta["namespace"], life.api.meta["name"], one.name, running.pid, one.since)
            for life in self.lives.copy().values()
            for one in life.containers
            if (running := one.running)
        ]
        return usage.text(found, time.time())

    def real(self, namespace: str, name: str) -> Life:
        """Raises NotRunning."""
        if life := self.named(namespace, name):
            return life
        raise NotRunning(f"the pod {namespace}/{name} {PLAYED}")

    def named(self, namespace: str, name: str) -> Life | None:
        """The last of several by one name is the one that the API has."""
        lives = [one for one in self.lives.copy().values() if one.title == f"{namespace}/{name}"]
        return lives[-1] if lives else None

    def clear(self, found: Iterable[str]) -> None:
        """Takes away what an earlier kubelet left of pods that have gone meanwhile."""
        for folder in self.node.folder.iterdir() if self.node.folder.is_dir() else ():
            if folder.name not in found:
                volumes.drop(folder / "volumes")
                volumes.drop(folder)
        self.tidy = True
