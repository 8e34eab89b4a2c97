"""Kubeconfigs: the one to join with, which bundles write in JSON, and the kubelet's own, which it writes itself."""

import json
import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from local.machines import ready_made

EXEC_SECONDS = 60
EXEC_API = "client.authentication.k8s.io/v1"


class Access(NamedTuple):
    """To a cluster: its server, its authority's file, and how a token is had."""

    server: str
    authority: str
    token: Callable[[], str]


def joining(file: Path) -> Access:
    """Raises OSError, ValueError for what local machines do not read."""
    config = json.loads(file.read_text())
    (cluster,), (user,), (context,) = config["clusters"], config["users"], config["contexts"]
    if (context["name"], context["context"]) != (
        config["current-context"],
        {"cluster": cluster["name"], "user": user["name"]},
    ):
        raise ValueError(f"{file}: its one context is not the current one, of its one cluster and user")
    who = user["user"]
    if set(who) == {"tokenFile"}:
        read = Path(who["tokenFile"])
        return Access(*_server(cluster), lambda: read.read_text().strip())
    if set(who) == {"exec"} and who["exec"]["apiVersion"] == EXEC_API:
        return Access(*_server(cluster), Credential(who["exec"]))
    raise ValueError(f"{file}: a machine joins by tokenFile, or by exec of {EXEC_API}")


def _server(cluster: Any) -> tuple[str, str]:
    return cluster["cluster"]["server"], cluster["cluster"]["certificate-authority"]


class Credential:
    """What a command prints, for as long as it says that it is good, as client-go has it."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.token, self.until = "", datetime.min.replace(tzinfo=UTC)

    def __call__(self) -> str:
        """Raises OSError."""
        if datetime.now(UTC) >= self.until:
            self.token, self.until = executed(self.settings)
        return self.token


def executed(settings: dict[str, Any]) -> tuple[str, datetime]:
    """The token that the command prints, and until when. Raises OSError; what it printed is never in an error."""
    given = {one["name"]: one["value"] for one in settings.get("env") or []}
    try:
        code, stdout = ready_made.output(
            [settings["command"], *settings.get("args", [])], {**os.environ, **given}, EXEC_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise OSError(f"{settings['command']} took longer than {EXEC_SECONDS} s") from None
    if code:
        raise OSError(f"{settings['command']} {' '.join(settings.get('args', []))} ended with status {code}")
    try:
        status = json.loads(stdout)["status"]
        until = status.get("expirationTimestamp")
        return str(status["token"]), datetime.fromisoformat(until) if until else datetime.now(UTC)
    except (KeyError, TypeError, ValueError):
        raise OSError(f"{settings['command']} printed no credential with a token") from None


def own(access: Access, pair: Path) -> str:
    """By the certificate that is current, whichever it is."""
    named = {"cluster": "default-cluster", "user": "default-auth", "namespace": "default"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": named["cluster"], "cluster": {"server": access.server, "certificate-authority": access.authority}}
        ],
        "users": [{"name": named["user"], "user": {"client-certificate": str(pair), "client-key": str(pair)}}],
        "contexts": [{"name": "default-context", "context": named}],
        "current-context": "default-context",
    }
    return json.dumps(config, indent=2) + "\n"


def read_own(file: Path) -> tuple[str, str, Path] | None:
    """Server, authority and the certificate's file; None if there is none yet."""
    if not file.exists():
        return None
    config = json.loads(file.read_text())
    return *_server(config["clusters"][0]), Path(config["users"][0]["user"]["client-certificate"])
