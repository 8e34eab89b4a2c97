"""Continuing inside the local cloud: the command starts itself again in there, with its terminal and exit code kept."""

import os
import sys
from pathlib import Path
from typing import NoReturn

from local import client
from local.environment import scrubbed

ROOT = Path(__file__).resolve().parent.parent
HOME = Path(os.environ.get("LANDBRIDGE_HOME") or ROOT / ".landbridge").absolute()
LOCAL_HOME = HOME / "local"
COMMANDS = {"up", "preview", "destroy", "status"}


def at_once() -> None:
    """Enters a local cloud that is up, before anything large is imported; that would be done again inside."""
    if sys.argv[1:2] and sys.argv[1] in COMMANDS and "--local" in sys.argv:
        cloud = client.status(LOCAL_HOME)
        if cloud and not client.inside(cloud):
            enter(cloud)


def entered() -> client.Cloud:
    """The local cloud, started if need be, with this process inside it."""
    cloud = client.ensure(LOCAL_HOME)
    if not client.inside(cloud):
        enter(cloud)
    return cloud


def enter(cloud: client.Cloud) -> NoReturn:
    command = client.enter_command(cloud, [sys.executable, "-m", "landbridge", *sys.argv[1:]])
    sys.stdout.flush()
    os.execvpe(command[0], command, scrubbed(os.environ))  # noqa: S606
