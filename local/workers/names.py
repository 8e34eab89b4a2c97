"""By which names a run's pods find each other: an /etc/hosts of each pod's own, as a kubelet writes it, and its peers'.

There is no cluster DNS here, so the names that it would answer with stand in that file: those of the pods of the
headless Service that `subdomain` names. Kubelets may not read EndpointSlices, but kube-proxy may, which is on every
node; a kubelet may have the token of each pod of its node, and hands it to that pod on a real one.
"""

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from kube_http import Answer, Json, Kube

from . import environment, images, tokens
from .background import vital
from .report import Node
from .unit import say

HOSTS = Path("/etc/hosts")
SLICES, SERVICE_LABEL = "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices", "kubernetes.io/service-name"
# The add-on's: components/addons/kube_proxy.py.
PROXY = "kube-proxy"
# A node that is new has its kube-proxy soon.
AGAIN_SECONDS, MOST_AGAIN_SECONDS = 2.0, 30.0
# A thread hears within this time that its pod has gone.
WATCH_SECONDS = 60


def names(host: str, subdomain: str, namespace: str, domain: str) -> list[str]:
    """The whole one first, then those that a pod's search domains make of it."""
    service = f"{host}.{subdomain}.{namespace}.svc"
    return [f"{service}.{domain}", service, f"{host}.{subdomain}.{namespace}", f"{host}.{subdomain}"]


def own(pod: Mapping[str, Any], address: str, domain: str) -> list[str]:
    """A pod's own line, if it has a name of its own."""
    host, subdomain = environment.host_name(pod), pod["spec"].get("subdomain")
    if host is None:
        return []
    known = names(host, subdomain, pod["metadata"]["namespace"], domain) if subdomain else []
    return [line(address, [*known, host])]


def peers(slices: Iterable[Json], subdomain: str, namespace: str, domain: str) -> list[str]:
    """As CoreDNS takes them: those that are ready, or all where the Service says that it publishes these, too."""
    found = {
        line(address, names(one["hostname"], subdomain, namespace, domain))
        for thing in slices
        for one in thing.get("endpoints") or []
        if one.get("hostname") and (one.get("conditions") or {}).get("ready") is not False
        for address in one["addresses"]
    }
    return sorted(found)


def line(address: str, known: Iterable[str]) -> str:
    return f"{address}\t{' '.join(known)}\n"


def write(file: Path, text: str) -> None:
    """In place, since it is mounted, and in one call, so that hardly anybody reads half of it. It never gets shorter.

    Raises OSError.
    """
    descriptor = os.open(file, os.O_RDWR)
    try:
        before = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
        content = text.encode().ljust(len(before), b"\n")
        if content != before:
            os.pwrite(descriptor, content, 0)
    finally:
        os.close(descriptor)


def of_pod(node: Node, pod: Json, file: Path) -> "Names | None":
    """Of a run's, and of those that a headless Service names. Other pods have the machine's own names."""
    return Names(node, pod, file) if images.of_run(pod) or pod["spec"].get("subdomain") else None


class Names:
    """Of one pod, in `file`. A thread of their own keeps them up to date between `lay` and `leave`."""

    def __init__(self, node: Node, pod: Json, file: Path) -> None:
        self.node, self.pod, self.file = node, pod, file
        self.title = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        self.subdomain: str = pod["spec"].get("subdomain") or ""
        self.through = threading.Event()
        self.address = self.reported = ""
        self.proxy = tokens.Borrowed(node.api, node.name, PROXY)
        self.as_proxy = Kube(node.api.server, node.api.authority, token=self.proxy.current)

    def lay(self, address: str) -> None:
        """`address` is the pod's. Raises OSError."""
        self.address = address
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.touch(0o644)
        self.update(())
        if self.subdomain:
            threading.Thread(target=vital, args=(self.follow,), daemon=True).start()

    def leave(self) -> None:
        self.through.set()

    def update(self, slices: Iterable[Json]) -> None:
        where = self.pod["metadata"]["namespace"], self.node.domain
        theirs = peers(slices, self.subdomain, *where) if self.subdomain else []
        machine = HOSTS.read_text() if HOSTS.exists() else ""
        write(self.file, "".join([machine, *own(self.pod, self.address, self.node.domain), *theirs]))

    def follow(self) -> None:
        pause = AGAIN_SECONDS
        while not self.through.is_set():
            try:
                for slices in self.states():
                    if self.through.is_set():
                        return
                    self.update(slices)
                    pause, self.reported = AGAIN_SECONDS, ""
            except (OSError, Answer) as error:
                # It may have been bound to a pod that has gone.
                self.proxy.forget()
                if not self.through.is_set() and str(error) != self.reported:
                    say(f"pod {self.title}: the names of its peers stay as they are: {error}")
                self.reported = str(error)
                self.through.wait(pause)
                pause = min(2 * pause, MOST_AGAIN_SECONDS)

    def states(self) -> Iterator[Iterable[Json]]:
        """The Service's slices, at each change, for a minute. Raises OSError, Answer."""
        path = SLICES.format(self.pod["metadata"]["namespace"])
        query = {"labelSelector": f"{SERVICE_LABEL}={self.subdomain}"}
        listed = self.as_proxy.ask("GET", f"{path}?{urlencode(query)}")
        slices = {one["metadata"]["name"]: one for one in listed.get("items") or []}
        yield slices.values()
        for kind, thing in self.as_proxy.watch(path, listed["metadata"]["resourceVersion"], query, WATCH_SECONDS):
            slices[thing["metadata"]["name"]] = thing
            if kind == "DELETED":
                del slices[thing["metadata"]["name"]]
            yield slices.values()
