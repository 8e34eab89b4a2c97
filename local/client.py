"""Starting, finding, entering and stopping the local cloud. One daemon for each state folder."""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .namespace import FORBIDDEN, UNSHARE, enter, started_at

START_SECONDS = 90
STOP_SECONDS = 15


class LocalCloudError(Exception):
    """What the user reads when the local cloud can't start or stop."""


class Cloud(NamedTuple):
    """A running local cloud. `generation` changes with every start: its resources live in memory only."""

    pid: int
    generation: str
    since: float  # seconds since 1970

    def command(self, command: list[str], folder: Path) -> list[str]:
        """What to run so that `command` runs inside."""
        return enter(self.pid, str(folder), command)


def status(state: Path) -> Cloud | None:
    """The cloud that runs for this state folder, if one does."""
    try:
        found = json.loads((state / "daemon.json").read_text())
    except (OSError, ValueError):
        return None
    if started_at(found["pid"]) != found["started_at"]:
        return None
    return Cloud(found["pid"], found["generation"], found["since"])


def ensure(state: Path) -> Cloud:
    """The running cloud, started if need be. Raises LocalCloudError. Two callers at once start one."""
    if cloud := status(state):
        return cloud
    state.mkdir(parents=True, exist_ok=True)
    with _locked(state):
        return status(state) or _start(state)


def stop(state: Path) -> bool:
    """Ends the cloud and all in it; False when none ran."""
    cloud = status(state)
    if cloud is None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(cloud.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while status(state) and time.monotonic() < deadline:
        time.sleep(0.05)
    if status(state):
        os.kill(cloud.pid, signal.SIGKILL)
    (state / "daemon.json").unlink(missing_ok=True)
    return True


def log_path(state: Path) -> Path:
    return state / "daemon.log"


@contextlib.contextmanager
def _locked(state: Path) -> Iterator[None]:
    with (state / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _start(state: Path) -> Cloud:
    (state / "daemon.json").unlink(missing_ok=True)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "PULUMI_"))}
    environment |= {"LANDBRIDGE_UNSHARED": "1", "PYTHONDONTWRITEBYTECODE": ""}
    with log_path(state).open("w") as log:
        daemon = subprocess.Popen(
            [*UNSHARE, sys.executable, "-m", "local.daemon", str(state.absolute())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            cwd="/",
            start_new_session=True,
        )
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if cloud := status(state):
            return cloud
        if daemon.poll() is not None:
            raise LocalCloudError(_why_not(state))
        time.sleep(0.05)
    daemon.terminate()
    raise LocalCloudError(f"the local cloud was not ready within {START_SECONDS} s: see {log_path(state)}")


def _why_not(state: Path) -> str:
    text = log_path(state).read_text().strip()
    if text.startswith(("unshare:", "mount:")) or "Operation not permitted" in text:
        return FORBIDDEN.format(reason=text.splitlines()[0])
    last = text.splitlines()[-1] if text else "it said nothing"
    return f"the local cloud ended while starting: {last}. The whole log: {log_path(state)}"
