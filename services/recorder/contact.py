"""Until when the API server has been heard: what is written says of which time it tells all."""

import http.client
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kube_http import EVERYTHING, WATCH_SECONDS, Kube

from .metrics import api_calls
from .seeing import EVENTS

Json = dict[str, Any]
# The server sends a line a minute at least. What is silent for longer was dead before anybody noticed.
BOOKMARK_SECONDS = 90.0
# But none of events, which it does not keep in memory (its --watch-cache): there only the end of the watch
# shows that nothing had happened.
QUIET_SECONDS = 50
# API servers keep events for an hour (--event-ttl): a list has all since. Less a bit for the list itself.
LISTED_SECONDS = 3300.0


class Contact:
    """By paths that are watched: when each was heard last, and since when some are not heard."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self.now, self.lock = now, threading.Lock()
        self.last: dict[str, float] = {}
        self.broken: dict[str, float] = {}

    def begins(self, path: str) -> None:
        with self.lock:
            self.last[path] = self.broken[path] = self.now()

    def heard(self, path: str) -> None:
        """What had happened meanwhile has been told as well, or is told as a gap: see `again`."""
        with self.lock:
            self.last[path] = self.now()
            self.broken.pop(path, None)

    def broke(self, path: str) -> None:
        with self.lock:
            last, now = self.last[path], self.now()
            self.broken.setdefault(path, last if now - last > BOOKMARK_SECONDS else now)

    def again(self, path: str) -> float:
        """Since when nothing is known, of what had to be listed anew: the server had forgotten what happened."""
        with self.lock:
            return self.broken.get(path, self.last[path])

    def missed(self, path: str) -> float | None:
        """The same where something was missed by it: None where the list has all that happened since."""
        since = self.again(path)
        return None if path == EVENTS and self.now() - since < LISTED_SECONDS else since

    def until(self) -> float:
        """All that had happened by then has been heard."""
        with self.lock:
            return min(self.broken.values(), default=self.now())


class Heard(Kube):
    """A client that notes each line of a watch, bookmarks too, its end in good order, and the list that begins one."""

    contact: Contact | None = None
    quiet_seconds = QUIET_SECONDS

    def call(
        self, method: str, path: str, data: bytes | None, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        api_calls.labels("call").inc()
        return super().call(method, path, data, headers)

    def watch(
        self,
        path: str,
        version: str,
        query: Mapping[str, str] = EVERYTHING,
        seconds: int = WATCH_SECONDS,
        silent: float | None = None,
    ) -> Iterator[tuple[str, Json]]:
        api_calls.labels("watch").inc()
        for one in super().watch(path, version, query, self.quiet_seconds if path == EVENTS else seconds, silent):
            self._heard(path)
            yield one
        self._heard(path)

    def _heard(self, path: str) -> None:
        if self.contact:
            self.contact.heard(path)
