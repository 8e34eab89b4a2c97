"""Starting, finding, entering and stopping the local cloud, from outside.

Everything of it lies in one folder, its home: cloud.json (who lives, see `local.daemon`), cloud.log, cloud.hosts, the
world itself (see `local.standing`), and a folder for each fleet with Pulumi's state. It outlives the daemon. Errors are
NamespaceError and LocalCloudError.
"""

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from . import namespace, saved_worlds
from .environment import scrubbed
from .errors import LocalCloudError as LocalCloudError
from .machines import systemctl
from .machines.machine import enter_command as machines_enter

ROOT = Path(__file__).resolve().parent.parent
STOP_SECONDS = 20
LOG_BYTES = 10_000_000
# Programs that it and its machines run → the package that has them; nearly every Linux does.
PROGRAMS = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2", "openssl": "openssl", "curl": "curl"}
# How the daemon begins and ends in its log, see `daemon.log`.
READY, ENDED = " local cloud ready, life ", " local cloud ended"


class Cloud(NamedTuple):
    """A local cloud that is up: one life of its daemon. Its resources live as long as its generation, through many."""

    home: Path
    pid: int
    life: str
    generation: str
    mode: namespace.Mode
    started: datetime

    @property
    def log(self) -> Path:
        return self.home / "cloud.log"


def status(home: Path) -> Cloud | None:
    """The cloud that lives in `home`, if one does."""
    try:
        with (home / "cloud.json").open("r+") as record:
            try:
                fcntl.flock(record, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return read(home, record.read())
            return None
    except FileNotFoundError:
        return None


def read(home: Path, text: str) -> Cloud | None:
    try:
        record = json.loads(text)
    except json.JSONDecodeError:  # it has just been started and has not written yet
        return None
    mode = namespace.MODES[record["way"]]
    return Cloud(
        home,
        record["pid"],
        record.get("life", ""),
        record["generation"],
        mode,
        datetime.fromisoformat(record["started"]),
    )


def ensure(home: Path) -> Cloud:
    """The running cloud of `home`, started if there is none. Two at once get the same one."""
    with starting(home):
        return status(home) or start(home)


@contextlib.contextmanager
def starting(home: Path) -> Iterator[None]:
    """One at a time starts, stops or replaces what stands in `home`: the lock is beside it."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.with_name(f"{home.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        saved_worlds.settle(home)
        yield


def start(home: Path) -> Cloud:
    """Within `starting`."""
    home.mkdir(parents=True, exist_ok=True)
    if missing := [name for name in PROGRAMS if shutil.which(name) is None]:
        packages = " ".join(sorted({PROGRAMS[name] for name in missing}))
        raise LocalCloudError(f"The local cloud needs {', '.join(missing)} on the PATH. Install {packages}.")
    mode = namespace.usable_mode()
    log = home / "cloud.log"
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.unlink()
    heard, write_end = os.pipe()
    daemon = [sys.executable, "-m", "local.daemon", f"--home={home}", f"--way={mode.name}", f"--ready={write_end}"]
    with log.open("ab") as output:
        subprocess.Popen(
            ["unshare", *mode.make, *daemon],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=ROOT,
            env=scrubbed(os.environ),
            pass_fds=[write_end],
            start_new_session=True,
        )
    os.close(write_end)
    with os.fdopen(heard) as answer:
        line = answer.readline()
    if not line:
        raise LocalCloudError(f"The local cloud did not start. Its log: {log}")
    if "error" in (report := json.loads(line)):
        raise LocalCloudError(f"The local cloud did not start: {report['error']}. Its log: {log}")
    cloud = read(home, line)
    assert cloud is not None
    return cloud


def stop(home: Path) -> bool:
    """Ends the cloud of `home`; what stands in it is there again at the next start. False if there was none."""
    with starting(home) if home.exists() else contextlib.nullcontext():
        return halt(home)


def halt(home: Path) -> bool:
    """The same, within `starting`."""
    cloud = status(home)
    if cloud is None:
        return False
    with contextlib.suppress(ProcessLookupError), process(cloud.pid) as handle:
        # The number may have passed to another process since: the handle is the daemon's only if it lives still.
        if status(home) == cloud:
            end(handle)
    if status(home) is not None:
        raise LocalCloudError(f"The local cloud (process {cloud.pid}) does not end. Its log: {home / 'cloud.log'}")
    return True


def end(handle: int) -> None:
    signal.pidfd_send_signal(handle, signal.SIGTERM)
    if not select.select([handle], [], [], STOP_SECONDS)[0]:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        select.select([handle], [], [], STOP_SECONDS)


@contextlib.contextmanager
def process(pid: int) -> Iterator[int]:
    handle = os.pidfd_open(pid)
    try:
        yield handle
    finally:
        os.close(handle)


def enter_command(cloud: Cloud, argv: Sequence[str], folder: Path | None = None) -> list[str]:
    """The command that runs `argv` inside the cloud. Run it with `environment.scrubbed`."""
    return namespace.enter_command(cloud.mode, cloud.pid, argv, folder or Path.cwd())


def machines(cloud: Cloud) -> list[dict[str, Any]]:
    """All machines of the cloud, as its machines service last told, with the units that have failed on each."""
    listed = [one for one in machine_list(cloud.home) if one["state"] != "terminated"]
    with ThreadPoolExecutor(max_workers=16) as pool:
        failed = pool.map(lambda one: failed_units(one["pid"]) if one["pid"] else [], listed)
        return [{**one, "failed": units} for one, units in zip(listed, failed, strict=True)]


def machine_list(home: Path) -> list[dict[str, Any]]:
    """The same without asking the machines."""
    try:
        found: list[dict[str, Any]] = json.loads((home / "machines.json").read_text())
    except FileNotFoundError:
        return []
    return sorted(found, key=lambda one: (one["region"], one["machine"], one["since"]))


def failed_units(pid: int) -> list[str]:
    """What the init of a machine says; nothing if it does not answer."""
    try:
        _, out, _ = systemctl.ask("list-units", [], f"/proc/{pid}/root{systemctl.SOCKET}", wait=True)
    except (OSError, ValueError):
        return []
    rows = [line.split() for line in out.splitlines()[1:]]
    return [row[0] for row in rows if row[1] == "failed"]


def machine(cloud: Cloud, name: str) -> dict[str, Any]:
    """A machine by its name or instance id; the newest if several had the name. Raises LocalCloudError."""
    listed = machine_list(cloud.home)
    found = [one for one in listed if name in (one["machine"], one["instance"])]
    living = [one for one in found if one["state"] not in ("terminated", "stopping")] or found
    left = next(iter((cloud.home / "machines").glob(f"*/{name}")), None) if name.startswith("i-") else None
    if not living and left:  # only its logs
        return {"machine": name, "instance": name, "state": "terminated", "why": "", "pid": None, "folder": str(left)}
    if not living:
        there = ", ".join(sorted({one["machine"] for one in listed})) or "none"
        raise LocalCloudError(f"The local cloud has no machine {name}. It has: {there}.")
    return living[-1]


def machine_command(cloud: Cloud, name: str, argv: Sequence[str]) -> list[str]:
    """The command that runs `argv` in a machine as root, with `environment.scrubbed`. Raises LocalCloudError."""
    found = machine(cloud, name)
    if not found["pid"]:
        why = f": {found['why']}" if found["why"] else ""
        raise LocalCloudError(f"The machine {name} is {found['state']}{why}. See `landbridge local logs {name}`.")
    entered = machines_enter(found["pid"], argv)
    # A user namespace can't be entered by who is in it.
    return entered if inside(cloud) else enter_command(cloud, entered, Path("/"))


def inside(cloud: Cloud) -> bool:
    """Whether this process is in the cloud's network already."""
    return Path("/proc/self/ns/net").readlink() == Path(f"/proc/{cloud.pid}/ns/net").readlink()


def gone(cloud: Cloud, seconds: float) -> bool:
    """Whether the cloud lives no more; waits so long for one that is about to end."""
    deadline = time.monotonic() + seconds
    while status(cloud.home) == cloud:
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.1)
    return True


def last_words(home: Path, life: str | None = None) -> str | None:
    """How a life of the daemon ended, or the last one, if it left word: one that was killed has not."""
    log = home / "cloud.log"
    text = log.read_text(errors="replace") if log.exists() else ""
    _, ready, after = text.rpartition(f"{READY}{life or ''}")
    lines = after.partition(READY)[0] if ready or not life else ""
    ends = [line.partition(ENDED)[2] for line in lines.splitlines() if ENDED in line]
    return f"ended{ends[0 if life else -1].replace(': ', ' because ', 1)}" if ends else None


def fleet_home(cloud: Cloud, fleet: str) -> tuple[Path, bool]:
    """The folder of one fleet's state, and whether another world's state was dropped from it.

    The resources went with the world that held them: a state that lists them would only mislead.
    """
    folder = cloud.home / fleet
    marker = folder / "generation"
    if marker.exists() and marker.read_text() == cloud.generation:
        return folder, False
    dropped = (folder / "state").exists()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    marker.write_text(cloud.generation)
    return folder, dropped
