"""What an earlier machines service has left: machines that still end, and disks that are nobody's any more."""

import contextlib
import fcntl
import shutil
import time
from collections.abc import Set
from pathlib import Path

END_SECONDS = 10.0


def await_ended(machines: Path) -> None:
    """Returns when no machine holds its folder any more: their first processes end with the service that started them.

    One that does not is told by its start, which refuses.
    """
    deadline = time.monotonic() + END_SECONDS
    for lock in machines.glob("*/*/lock"):
        while is_locked(lock) and time.monotonic() < deadline:
            time.sleep(0.01)


def is_locked(lock: Path) -> bool:
    with contextlib.suppress(FileNotFoundError), lock.open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def drop(machines: Path, known: Set[str]) -> None:
    """Removes disks of machines that are no more, which ended while nobody was there. Their logs stay."""
    for folder in machines.glob("*/*"):
        if folder.name in known:
            continue
        with contextlib.suppress(OSError):
            shutil.move(folder / "disk/var/log", folder / "log")
        shutil.rmtree(folder / "disk", ignore_errors=True)
        for file in ("disk.qcow2", "guest"):
            (folder / file).unlink(missing_ok=True)
