"""What a kubeconfig says about the way to one API server. Only what is honoured is accepted."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from ..servicer import ProviderError

CLUSTER = {"server", "certificate-authority", "certificate-authority-data", "tls-server-name", "extensions"}
USER = {
    "client-certificate",
    "client-certificate-data",
    "client-key",
    "client-key-data",
    "token",
    "exec",
    "extensions",
}


@dataclass(frozen=True)
class Access:
    """One cluster as one user. PEM texts; empty means that there is none. `exec` is the kubeconfig's own entry."""

    server: str
    authority: str
    server_name: str = ""
    crt: str = ""
    key: str = ""
    token: str = ""
    exec: Mapping[str, Any] | None = None
    namespace: str = ""


def parse(given: str, context: str = "", cluster: str = "") -> Access:
    """From a file's path or its contents, as the official provider takes it. Raises ProviderError."""
    text, folder = _text(given)
    try:
        config = YAML(typ="safe", pure=True).load(StringIO(text))
        contexts, clusters, users = (_named(config, part) for part in ("contexts", "clusters", "users"))
        name = context or config.get("current-context") or ""
    except (YAMLError, AttributeError, KeyError, TypeError) as error:
        # Without the text: it may hold a key.
        raise ProviderError(
            f"the kubeconfig is neither a file's path nor a kubeconfig's contents ({type(error).__name__}): "
            "hand over what `landbridge kubeconfig` writes"
        ) from None
    chosen = _one(contexts, name, "context")
    where = _one(clusters, cluster or chosen.get("cluster", ""), "cluster")
    user = _one(users, chosen["user"], "user") if chosen.get("user") else {}
    _refuse(where, CLUSTER, "cluster")
    _refuse(user, USER, "user")
    server = str(where.get("server", ""))
    if urlsplit(server).scheme != "https":
        raise ProviderError(f"the kubeconfig's server is {server!r}: it must be an https:// address")
    return Access(
        server=server.rstrip("/"),
        authority=_pem(where, "certificate-authority", folder),
        server_name=str(where.get("tls-server-name") or ""),
        crt=_pem(user, "client-certificate", folder),
        key=_pem(user, "client-key", folder),
        token=str(user.get("token") or ""),
        exec=user.get("exec"),
        namespace=str(chosen.get("namespace") or ""),
    )


def _text(given: str) -> tuple[str, Path]:
    path = Path(given).expanduser() if "\n" not in given and len(given) < 4096 else None
    try:
        if path is not None and path.is_file():
            return path.read_text(), path.parent
    except OSError as error:
        raise ProviderError(f"the kubeconfig {path} cannot be read: {error.strerror}") from None
    return given, Path.cwd()


def _named(config: Mapping[str, Any], part: str) -> dict[str, Mapping[str, Any]]:
    # The entry's key is the singular of the list's: clusters → cluster.
    return {str(entry["name"]): entry.get(part[:-1]) or {} for entry in config.get(part) or []}


def _one(entries: Mapping[str, Mapping[str, Any]], name: str, what: str) -> Mapping[str, Any]:
    if name not in entries:
        known = ", ".join(sorted(entries)) or "none"
        raise ProviderError(f"the kubeconfig has no {what} {name!r}; it has: {known}")
    return entries[name]


def _refuse(entry: Mapping[str, Any], known: set[str], what: str) -> None:
    if strange := sorted(entry.keys() - known):
        raise ProviderError(
            f"the kubeconfig's {what} says {', '.join(strange)}, which the local cloud does not honour: leave it out"
        )


def _pem(entry: Mapping[str, Any], name: str, folder: Path) -> str:
    if data := entry.get(f"{name}-data"):
        try:
            return base64.b64decode(data, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError, TypeError):
            raise ProviderError(f"the kubeconfig's {name}-data is not base64 of PEM text") from None
    if not entry.get(name):
        return ""
    path = folder / str(entry[name])
    try:
        return path.read_text()
    except OSError as error:
        raise ProviderError(f"the kubeconfig's {name} {path} cannot be read: {error.strerror}") from None
