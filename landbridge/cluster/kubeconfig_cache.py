"""A kubeconfig that was made a moment ago, used again: kubectl then starts without a fleet file or a cloud being read.

Imports nothing large. What is kept lies in a folder that only its owner may enter, and counts for nothing as soon as
the fleet file or, on the local cloud, the stack's state or the cloud itself is another; on real clouds for an hour.
"""

import contextlib
import hashlib
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from fleet.errors import FleetError
from fleet.where import fleet_path
from landbridge import command_line
from landbridge.local import meant
from local import client
from local.environment import scrubbed

from .kept import CLUSTER, FOLDER, stamp

REAL_SECONDS = 3600.0
# What kubectl may ask of its user's environment beside what the local cloud keeps.
EDITORS = ("EDITOR", "KUBE_EDITOR", "VISUAL", "PAGER")


class CommandLine(NamedTuple):
    """A command line `landbridge kubectl [--cluster NAME] [--local] [--fleet FILE] ARGS…`, taken apart."""

    cluster: str | None
    local: bool
    fleet: str | None
    words: tuple[str, ...]


def taken_apart(arguments: Sequence[str]) -> CommandLine | None:
    """Our own options stand before kubectl's words. None when the command itself has to judge them, such as --help."""
    cluster, fleet, local, rest = None, None, None, list(arguments)
    while rest:
        name, equals, value = rest[0].partition("=")
        if rest[0] in (command_line.LOCAL, command_line.NOT_LOCAL):
            local = rest[0] == command_line.LOCAL
        elif name in ("--cluster", "--fleet"):
            if not equals:
                if len(rest) < 2:
                    return None
                rest.pop(0)
                value = rest[0]
            cluster, fleet = (value, fleet) if name == "--cluster" else (cluster, value)
        elif rest[0] in ("-h", "--help"):
            return None
        else:
            break
        rest.pop(0)
    return CommandLine(cluster, meant.local(local, Path(fleet) if fleet else None), fleet, tuple(rest))


class CachedKubeconfig:
    """What is kept for one way of asking."""

    def __init__(self, home: Path, asked: CommandLine) -> None:
        self.home = home
        self.fleet = fleet_path(Path(asked.fleet) if asked.fleet else None)
        cluster = asked.cluster or os.environ.get(CLUSTER)
        key = json.dumps([str(self.fleet), cluster, asked.local])
        self.folder = home / FOLDER
        name = hashlib.sha256(key.encode()).hexdigest()[:16]
        self.config, self.record = self.folder / f"{name}.kubeconfig", self.folder / f"{name}.json"

    def save(self, kubectl: str, state: Path | None, cloud: client.Cloud | None) -> None:
        """Beside the kubeconfig, which must lie there already."""
        record = {
            "kubectl": kubectl,
            "fleet": stamp(self.fleet),
            "state": [str(state), stamp(state)] if state else None,
            "cloud": cloud and cloud.generation,
            "until": time.time() + REAL_SECONDS,
        }
        self.record.write_text(json.dumps(record))

    def cached(self) -> dict[str, Any] | None:
        """What was saved, if it still holds."""
        try:
            record: dict[str, Any] = json.loads(self.record.read_text())
            state = record["state"]
            same = record["fleet"] == stamp(self.fleet) and self.config.exists() and Path(record["kubectl"]).exists()
            if state is not None:
                same = same and state[1] == stamp(Path(state[0]))
            elif time.time() > record["until"]:
                return None
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return record if same else None


def at_once(home: Path, local_home: Path, arguments: Sequence[str]) -> None:
    """Becomes kubectl if that can be done with what is kept; else returns. Raises UsageError, see `meant`."""
    asked = taken_apart(arguments)
    if asked is None:
        return
    try:
        kubeconfig = CachedKubeconfig(home, asked)
    except FleetError:
        return
    record = kubeconfig.cached()
    if record is None:
        return
    cloud = client.status(local_home) if record["cloud"] else None
    if record["cloud"] and (cloud is None or cloud.generation != record["cloud"]):
        return
    become(record["kubectl"], asked.words, kubeconfig.config, cloud)


def become(kubectl: str, words: Sequence[str], config: Path, cloud: client.Cloud | None) -> NoReturn:
    """Its streams, signals and exit code are this process's."""
    own = {name: os.environ[name] for name in EDITORS if name in os.environ}
    environment = {**scrubbed(os.environ), **own} if cloud else dict(os.environ)
    # kubectl's own cache: what the API offers. Not in the user's home, where other clusters' lie.
    environment |= {"KUBECONFIG": str(config), "KUBECACHEDIR": str(config.parent / "cache")}
    command = [kubectl, *words]
    if cloud is not None and not client.inside(cloud):
        command = client.enter_command(cloud, command)
    sys.stdout.flush()
    os.execvpe(command[0], command, environment)  # noqa: S606


def forget(home: Path) -> None:
    """After an up: certificates may be others."""
    for file in (home / FOLDER).glob("*.json"):
        with contextlib.suppress(OSError):
            file.unlink()
