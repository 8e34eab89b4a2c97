"""Locks of a stack in a file backend: who holds one, and whether that process is gone.

Other backends tell who holds a lock only when an update meets it; `holder_in` reads that text.
"""

import contextlib
import json
import os
import re
import signal
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

# Pulumi writes a lock a moment after its process has started; clocks of /proc and of the lock differ by less than this.
CLOCK_SECONDS = 5


class Lock(NamedTuple):
    """Who updates a stack since when; `file` is None for a lock that was only told of."""

    user: str
    host: str
    pid: int
    since: datetime
    file: Path | None = None

    def __str__(self) -> str:
        return f"{self.user} on {self.host} (process {self.pid}) since {self.since.astimezone():%Y-%m-%d %H:%M:%S}"


class LockedError(Exception):
    """Another process updates the stack."""

    def __init__(self, lock: Lock | None) -> None:
        super().__init__(str(lock))
        self.lock = lock


def clear(state: Path | None, project: str, stack: str, mark: str) -> list[str]:
    """Removes locks whose process is no more and says so; raises LockedError for one that is held.

    What that process had started outlives it and waits for it for ever: processes with `mark` in their environment
    end, too.
    """
    notes = []
    for lock in locks(state, project, stack):
        if not stale(lock):
            raise LockedError(lock)
        assert lock.file is not None
        lock.file.unlink(missing_ok=True)
        notes.append(f"removed the lock of {lock}: that process is gone.")
    if state is not None and notes:
        end_marked(mark)
        for half_written in (state / "stacks" / project).glob(f"{stack}.json.*.tmp"):
            half_written.unlink(missing_ok=True)
    return notes


def end_marked(mark: str, proc: Path = Path("/proc")) -> None:
    """Kills every process that has `mark`, such as "NAME=value", in its environment."""
    for environment in proc.glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):  # it is another user's, or gone
            if mark.encode() in environment.read_bytes().split(b"\0"):
                os.kill(int(environment.parent.name), signal.SIGKILL)


def locks(state: Path | None, project: str, stack: str) -> list[Lock]:
    """The locks of a stack under `state`, the folder of a file backend; none for other backends."""
    if state is None:
        return []
    folder = state / "locks" / "organization" / project / stack
    return [lock for file in sorted(folder.glob("*.json")) if (lock := read(file))]


def read(file: Path) -> Lock | None:
    """None for a file that has gone or is being written."""
    try:
        record = json.loads(file.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    # Go writes nanoseconds; Python's reader wants at most six digits.
    since = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", record["timestamp"]))
    return Lock(record["username"], record["hostname"], record["pid"], since, file)


def stale(lock: Lock, proc: Path = Path("/proc")) -> bool:
    """Whether the process that took the lock, on this very host, is no more."""
    if lock.file is None or lock.host != socket.gethostname():
        return False
    started = started_at(lock.pid, proc)
    return started is None or started > lock.since.timestamp() + CLOCK_SECONDS


def started_at(pid: int, proc: Path) -> float | None:
    """When the process began, in seconds since 1970; None if there is none or only its exit status is left."""
    try:
        fields = (proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    if fields[0] in "ZX":
        return None
    uptime = float((proc / "uptime").read_text().split()[0])
    age = uptime - int(fields[19]) / os.sysconf("SC_CLK_TCK")  # proc(5): starttime is field 22
    return time.time() - age


def holder_in(text: str) -> Lock | None:
    """The holder named by Pulumi's own complaint about a lock."""
    found = re.search(r"created by (\S+)@(\S+) \(pid (\d+)\) at (\S+)", text)
    if found is None:
        return None
    user, host, pid, since = found.groups()
    return Lock(user, host, int(pid), datetime.fromisoformat(since).astimezone(UTC))
