"""Continuing inside the local cloud: the command starts itself again in there, with its terminal and exit code kept.

Every command begins here, so what only some need is imported where they do.
"""

import contextlib
import errno
import os
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import installation
from fleet.errors import FleetError
from fleet.where import fleet_path

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
    if sys.argv[1:2] == ["kubectl"]:
        from landbridge.cluster import kubeconfig_cache

        # What follows is kubectl's: its --local, for one, is another.
        kubeconfig_cache.at_once(HOME, LOCAL_HOME)
        return
    # What follows is a run's.
    own = sys.argv[: sys.argv.index("--")] if "--" in sys.argv else sys.argv
    if own[1:2] and own[1] in COMMANDS and "--local" in own:
        from local import client

        cloud = client.status(LOCAL_HOME)
        if cloud and not client.inside(cloud) and not builds_first(sys.argv):
            enter(cloud)


def builds_first(words: list[str]) -> bool:
    """Whether the command will have to build a Kubernetes, for which it must still be outside: see local_kubernetes.

    By a look at the fleet file's text: reading it in earnest takes longer than all else here.
    """
    if words[1] != "up":
        return False
    from local import kubernetes

    named = next((after for word, after in pairwise(words) if word == "--fleet"), None)
    named = next((word.partition("=")[2] for word in words if word.startswith("--fleet=")), named)
    with contextlib.suppress(FleetError, OSError, UnicodeDecodeError):
        text = fleet_path(Path(named) if named else None).read_text()
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
    sys.stdout.flush()
    os.execvpe(command[0], command, scrubbed(os.environ))  # noqa: S606
