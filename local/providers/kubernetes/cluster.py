"""One cluster as one provider resource sees it: its API, its kinds, and whether it answers at all."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from ..servicer import ProviderError
from .api import Api, ApiError, Unreachable
from .discovery import Discovery, Kind
from .log import Log
from .objects import name_of, namespace_of
from .settings import Settings

# Kinds and namespaces that this very run makes may come a moment after what needs them.
ORDER_SECONDS = 30.0


class Cluster:
    """Raises Unreachable from what needs the API when there is none."""

    def __init__(self, settings: Settings, log: Log) -> None:
        self.settings, self.log, self.cancelled = settings, log, threading.Event()
        self._api = Api(settings.access, self.cancelled) if settings.access else None
        self._discovery = Discovery(self._api) if self._api else None
        self._lock = threading.Lock()
        self._answers: bool | None = None

    @property
    def api(self) -> Api:
        if self._api is None:
            raise Unreachable("the provider's kubeconfig is not known yet")
        return self._api

    @property
    def discovery(self) -> Discovery:
        if self._discovery is None:
            raise Unreachable("the provider's kubeconfig is not known yet")
        return self._discovery

    def answers(self, urn: str) -> bool:
        """Asked once, for what can do without: previews. Says so to the user when it does not."""
        with self._lock:
            if self._answers is None:
                try:
                    self.api.call("GET", "/version", patience=0)
                    self._answers = True
                except ApiError as error:
                    if error.code == 401:
                        raise ProviderError(
                            f"{self.api.access.server} does not accept the kubeconfig's credential: it has "
                            "ended, or is another cluster's. `landbridge kubeconfig` writes a new one"
                        ) from None
                    self._answers = True
                except Unreachable as error:
                    self._answers = False
                    self.log.warn(urn, f"{error}. The preview goes on without asking the API server")
            return self._answers

    def kind(self, thing: Mapping[str, Any]) -> Kind | None:
        return self.discovery.find(str(thing["apiVersion"]), str(thing["kind"]))

    def namespaced(self, urn: str, thing: Mapping[str, Any]) -> bool | None:
        """None when there is nobody to ask."""
        if self._api is None or not self.answers(urn):
            return None
        kind = self.kind(thing)
        return kind.namespaced if kind else True  # a kind to come: the official provider's guess

    def get(self, kind: Kind, thing: Mapping[str, Any]) -> dict[str, Any] | None:
        try:
            return self.api.call("GET", kind.path(namespace_of(thing), name_of(thing)))
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def in_order(self, attempt: Callable[[], dict[str, Any] | None], tell: Callable[[str], None]) -> Any:
        """Tries until the kind (None) and the namespace are there, or for half a minute. Raises what `attempt` does."""
        deadline, pause = time.monotonic() + ORDER_SECONDS, 0.2
        while True:
            last = time.monotonic() >= deadline or self.cancelled.is_set()
            try:
                if (made := attempt()) is not None or last:
                    return made
                tell("waiting for its kind to be defined")
            except ApiError as error:
                if last or not missing_namespace(error):
                    raise
                tell("waiting for its namespace")
            self.cancelled.wait(pause)
            pause = min(2 * pause, 2.0)


def missing_namespace(error: ApiError) -> bool:
    return error.code == 404 and error.about == "namespaces"
