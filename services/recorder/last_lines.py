"""The last lines of containers that failed, as long as their node still has them."""

import http.client
import queue
import threading
from collections.abc import Callable
from urllib.parse import quote, urlencode

from evidence.observation import Json, Observation
from evidence.record import LAST_LINES
from kube_http import Kube

from .book import Book

LINES, MOST_BYTES, READ_BYTES = 50, 8 * 1024, 256 * 1024
THREADS, MOST_WAITING = 4, 2000
# What ends a container that has something to say.
FAILED = ("exited", "init-exited", "signalled", "oom-killed", "deadline")


class LastLines:
    """Asked in threads of their own: a node that does not answer holds up nothing else."""

    def __init__(self, kube: Kube, book: Book, say: Callable[[str], None]) -> None:
        self.kube, self.book, self.say = kube, book, say
        self.wanted: queue.Queue[tuple[Json, Observation]] = queue.Queue(MOST_WAITING)

    def start(self) -> None:
        for n in range(THREADS):
            threading.Thread(target=self._work, name=f"lines-{n}", daemon=True).start()

    def of(self, pod: Json, fresh: list[Observation]) -> None:
        """Where too many fail at once some are passed over. What ends a pod as a whole is no container's."""
        for one in fresh:
            if one.code in FAILED and "container" in one.facts and not self.wanted.full():
                self.wanted.put_nowait((pod, one))

    def _work(self) -> None:
        while True:
            pod, ended = self.wanted.get()
            try:
                self.ask(pod, ended)
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.say(f"the last lines of {ended.about}: {error}")

    def ask(self, pod: Json, ended: Observation) -> None:
        """Raises OSError and HTTPException."""
        meta, name = pod["metadata"], str(ended.facts["container"])
        query = {"container": name, "tailLines": str(LINES), "limitBytes": str(READ_BYTES)}
        if _runs_again(pod, name):
            query["previous"] = "true"
        path = f"/api/v1/namespaces/{quote(meta['namespace'])}/pods/{quote(meta['name'])}/log?{urlencode(query)}"
        answer, data = self.kube.call("GET", path, None, {})
        text = data.decode(errors="replace")[-MOST_BYTES:]
        if answer.status == 200 and text.strip():
            facts = {"container": name, "restarts": ended.facts.get("restarts", 0)}
            self.book.add(Observation(ended.at, "kubelet", ended.about, LAST_LINES, text, ended.uid, facts))


def _runs_again(pod: Json, container: str) -> bool:
    status = pod.get("status") or {}
    every = [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]
    state = next((one.get("state") or {} for one in every if one["name"] == container), {})
    return "terminated" not in state
