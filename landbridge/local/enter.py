"""Continuing inside the local cloud: the command starts itself again in there, with its terminal and exit code kept.

Every command begins here, so what only some need is imported where they do.
"""

import contextlib
import errno
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import installation
from fleet.errors import FleetError
from fleet.where import fleet_path
from landbridge import command_line
from landbridge.cluster.kept import KUBECONFIG, OUTSIDE

from . import meant

if TYPE_CHECKING:
    from local import client

ROOT, HOME = installation.TREE, installation.STATE
LOCAL_HOME = HOME / "local"
# What ails a folder or a disk; other errors are ours.
AILS = {"EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT", "ENOTDIR", "EISDIR", "EEXIST", "ENAMETOOLONG", "EIO"}
COMMANDS = {
    "up",
    "preview",
    "destroy",
    "status",
    "doctor",
    "kubeconfig",
    "cluster",
    "etcd",
    "drill",
    "access",
    "site",
    "pool",
    "queue",
    "why",
    "autoscaler",
    "maintenance",
    "run",
    "runs",
    "logs",
    "stop",
    "exec",
    "forward",
}


def unusable(error: OSError) -> str | None:
    """What to do when `error` is that the folder of all state cannot be used; None when it is another's."""
    path = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes | Path) else None
    if path is not None and path != HOME and HOME not in path.parents and path not in HOME.parents:
        return None
    ailing = path is not None and errno.errorcode.get(error.errno or 0) in AILS
    try:
        HOME.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=HOME) as probe:
            probe.write(b"\n")
    except OSError as refusal:
        error, path, ailing = refusal, HOME, True
    if not ailing:
        return None
    where = "" if path == HOME else f" ({path})"
    why = "there is a file in the place of a folder" if error.errno in (errno.EEXIST, errno.ENOTDIR) else error.strerror
    return (
        f"landbridge cannot use {HOME}{where}, where it keeps state and logs: {why}. "
        "Make that a folder you may write to, or name another in the environment variable LANDBRIDGE_HOME."
    )


def at_once() -> None:
    """Enters a local cloud that is up, before anything large is imported; that would be done again inside."""
    line = command_line.taken_apart(sys.argv[1:])
    if line is None:
        return
    if line.command == "kubectl":
        from landbridge.cluster import kubeconfig_cache

        # What follows is kubectl's: its --local, for one, is another. Who wants to see calls is to see all.
        if not command_line.loudness(line.options):
            kubeconfig_cache.at_once(HOME, LOCAL_HOME, (*line.options, *line.rest))
        return
    if line.command == "kubeconfig":
        from landbridge.access import credential_cache

        credential_cache.at_once(HOME)
    if line.command in COMMANDS and meant.local(command_line.local(line.own), command_line.fleet(line.own)):
        from local import client

        cloud = client.status(LOCAL_HOME)
        if cloud and not client.inside(cloud) and not builds_first(line):
            enter(cloud)


def builds_first(line: command_line.CommandLine) -> bool:
    """Whether the command will have to build a Kubernetes, for which it must still be outside: see local_kubernetes.

    By a look at the fleet file's text: reading it in earnest takes longer than all else here.
    """
    if line.command != "up":
        return False
    from local import kubernetes

    with contextlib.suppress(FleetError, OSError, UnicodeDecodeError):
        text = fleet_path(command_line.fleet(line.own)).read_text()
        return any(version in text and kubernetes.lacks(version) for version in kubernetes.VERSIONS)
    return False


def entered() -> "client.Cloud":
    """The local cloud, started if need be, with this process inside it. Raises UsageError without its packages."""
    from landbridge import extras
    from local import client

    extras.check("local")
    cloud = client.ensure(LOCAL_HOME)
    if not client.inside(cloud):
        enter(cloud)
    return cloud


def enter(cloud: "client.Cloud") -> NoReturn:
    from local import client
    from local.environment import scrubbed

    command = client.enter_command(cloud, [sys.executable, "-m", "landbridge", *sys.argv[1:]])
    outside = {OUTSIDE: os.environ[KUBECONFIG]} if os.environ.get(KUBECONFIG) else {}
    sys.stdout.flush()
    os.execvpe(command[0], command, scrubbed(os.environ) | outside)  # noqa: S606
