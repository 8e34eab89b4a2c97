"""A kubeconfig without a key in it: kubectl asks us for a credential whenever it needs one."""

import base64
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .info import ClusterInfo

API = "client.authentication.k8s.io/v1"
# By this name our entries are known again, also by programs that read none of the rest.
MARK = "landbridge"
HOME_VARIABLE = "LANDBRIDGE_HOME"


class Meant(NamedTuple):
    """The cluster that a context is of: its fleet file, and whether it stands on the local cloud."""

    fleet: Path
    cluster: str
    local: bool

    @property
    def options(self) -> list[str]:
        return ["--cluster", self.cluster, "--fleet", str(self.fleet), "--local" if self.local else "--no-local"]


def config(info: ClusterInfo, meant: Meant, name: str, person: str | None) -> dict[str, Any]:
    """One cluster, user and context of one name, which is the current one."""
    authority = base64.b64encode(info.authority.encode()).decode()
    where = {"server": info.endpoint, "certificate-authority-data": authority, "extensions": mark(meant)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": where}],
        "users": [{"name": name, "user": {"exec": call(meant, person), "extensions": mark(meant)}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "extensions": mark(meant)}}],
        "current-context": name,
    }


def call(meant: Meant, person: str | None) -> dict[str, Any]:
    """How kubectl asks for a credential."""
    beside = Path(sys.executable).with_name("landbridge")
    command, first = (str(beside), []) if beside.is_file() else (sys.executable, ["-m", "landbridge"])
    words = ["kubeconfig", "credential", *meant.options, *(["--as", person] if person else [])]
    own = os.environ.get(HOME_VARIABLE)
    return {
        "apiVersion": API,
        "command": command,
        "args": [*first, *words],
        "env": [{"name": HOME_VARIABLE, "value": own}] if own else [],
        "interactiveMode": "Never",
        "provideClusterInfo": False,
    }


def mark(meant: Meant) -> list[dict[str, Any]]:
    about = {"fleet": str(meant.fleet), "cluster": meant.cluster, "local": meant.local}
    return [{"name": MARK, "extension": about}]


def marked(entry: Any) -> Meant | None:
    """Of which cluster a cluster's, user's or context's entry is; None for one that we have not written."""
    extensions = entry.get("extensions") if isinstance(entry, Mapping) else None
    for one in extensions if isinstance(extensions, list) else ():
        about = one.get("extension") if isinstance(one, Mapping) and one.get("name") == MARK else None
        if isinstance(about, Mapping) and about.get("fleet") and about.get("cluster"):
            return Meant(Path(str(about["fleet"])), str(about["cluster"]), bool(about.get("local")))
    return None
