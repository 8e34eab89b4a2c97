"""Credentials that a command gives: client-go's exec plugins."""

import json
import os
import subprocess
import threading
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from ..servicer import ProviderError

SECONDS = 60
EARLY_SECONDS = 30  # a credential is fetched anew this long before it ends


class Credential(NamedTuple):
    crt: str
    key: str
    token: str


class Command:
    """Runs the command when a credential is needed, and keeps what it gave until that ends."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self._entry, self._lock = entry, threading.Lock()
        self._cached: Credential | None = None
        self._until = 0.0

    def credential(self, *, fresh: bool = False) -> Credential:
        """`fresh` when the server has refused the last one. Raises ProviderError."""
        with self._lock:
            if self._cached is None or fresh or time.time() > self._until:
                self._cached, self._until = self._fetch()
            return self._cached

    def _fetch(self) -> tuple[Credential, float]:
        argv = [str(self._entry.get("command")), *map(str, self._entry.get("args") or [])]
        added = {str(one["name"]): str(one["value"]) for one in self._entry.get("env") or []}
        version = self._entry.get("apiVersion", "client.authentication.k8s.io/v1")
        info = {"apiVersion": version, "kind": "ExecCredential", "spec": {"interactive": False}}
        environment = {**os.environ, **added, "KUBERNETES_EXEC_INFO": json.dumps(info)}
        try:
            done = subprocess.run(
                argv, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ProviderError(f"the kubeconfig's command {argv[0]} gave no credential: {error}") from None
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise ProviderError(f"the kubeconfig's command {argv[0]} ended with status {done.returncode}: {last}")
        try:
            status = json.loads(done.stdout)["status"]
            until = status.get("expirationTimestamp")
            ends = datetime.fromisoformat(until).timestamp() - EARLY_SECONDS if until else float("inf")
            names = ("clientCertificateData", "clientKeyData", "token")
            return Credential(*(str(status.get(name) or "") for name in names)), ends
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ProviderError(f"the kubeconfig's command {argv[0]} printed no ExecCredential") from None
