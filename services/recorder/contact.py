"""Until when the API server has been heard: what is written says of which time it tells all."""

import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

from kube_http import EVERYTHING, WATCH_SECONDS, Kube

Json = dict[str, Any]


class Contact:
    """By paths that are watched: when each was heard last, and which are not heard now."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.last: dict[str, float] = {}
        self.broken: set[str] = set()

    def begins(self, path: str, now: float) -> None:
        with self.lock:
            self.last[path] = now
            self.broken.add(path)

    def heard(self, path: str, now: float) -> None:
        with self.lock:
            self.last[path] = now
            self.broken.discard(path)

    def broke(self, path: str) -> None:
        with self.lock:
            self.broken.add(path)

    def until(self, now: float) -> float:
        """All that had happened by then has been heard."""
        with self.lock:
            return min((self.last[path] for path in self.broken), default=now)


class Heard(Kube):
    """A client that notes each line of a watch, bookmarks too: after a break nobody else says that it goes on."""

    contact: Contact | None = None

    def watch(
        self,
        path: str,
        version: str,
        query: Mapping[str, str] = EVERYTHING,
        seconds: int = WATCH_SECONDS,
        silent: float | None = None,
    ) -> Iterator[tuple[str, Json]]:
        for one in super().watch(path, version, query, seconds, silent):
            if self.contact:
                self.contact.heard(path, time.time())
            yield one
