"""Kinds as the API server itself lists them: what they are called in paths, and whether they live in namespaces."""

import threading
import time
from typing import NamedTuple

from .api import PATIENCE_SECONDS, Api, ApiError, Unreachable

# How long a list holds for a kind that is not in it: a definition may be made at any time, by anybody.
STALE_SECONDS = 1.0


class Kind(NamedTuple):
    """`base` is the path before /namespaces or the plural."""

    base: str
    plural: str
    namespaced: bool

    def path(self, namespace: str, name: str = "") -> str:
        middle = f"/namespaces/{namespace or 'default'}" if self.namespaced else ""
        return f"{self.base}{middle}/{self.plural}" + (f"/{name}" if name else "")


class Discovery:
    """Asks once for each group and version, and again for a kind that was not there."""

    def __init__(self, api: Api) -> None:
        self._api, self._lock = api, threading.Lock()
        self._known: dict[str, tuple[float, dict[str, Kind]]] = {}
        self._failure: tuple[float, Unreachable] | None = None

    def find(self, api_version: str, kind: str) -> Kind | None:
        """None when the server does not know it. Raises ApiError and Unreachable."""
        with self._lock:
            when, kinds = self._known.get(api_version, (-STALE_SECONDS, {}))
            if kind not in kinds and time.monotonic() - when > STALE_SECONDS:
                # Those who waited for the lock need not wait for the same silence once more.
                if self._failure and time.monotonic() - self._failure[0] < PATIENCE_SECONDS:
                    raise self._failure[1]
                try:
                    kinds, self._failure = self._ask(api_version), None
                except Unreachable as error:
                    self._failure = time.monotonic(), error
                    raise
                self._known[api_version] = time.monotonic(), kinds
            return kinds.get(kind)

    def forget(self) -> None:
        """After a definition changed."""
        with self._lock:
            self._known.clear()

    def _ask(self, api_version: str) -> dict[str, Kind]:
        base = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        try:
            listed = self._api.call("GET", base)
        except ApiError as error:
            if error.code == 404:
                return {}
            raise
        return {
            entry["kind"]: Kind(base, entry["name"], bool(entry["namespaced"]))
            for entry in listed.get("resources") or []
            if "/" not in entry["name"]  # those are subresources, such as pods/log
        }
