"""CPU seconds of this process and of all that comes from it, daemons included: by a cgroup of its own, where one can be made."""

import contextlib
import os
from pathlib import Path

MOUNT = Path("/sys/fs/cgroup")
NAME = "landbridge-tests"
# A counter of version 1, or of version 2 → how many of its units a second has.
COUNTERS = {"cpuacct.usage": 1e9, "cpu.stat": 1e6}


class Meter:
    """Counts from when it is made. `whole` says whether it sees processes that nobody waits for."""

    def __init__(self, mount: Path = MOUNT) -> None:
        self.group = _entered(mount)
        self.whole = self.group is not None
        self._before = self._read()

    def seconds(self) -> float:
        return self._read() - self._before

    def _read(self) -> float:
        if self.group is None:
            return sum(os.times()[:4])
        name = _counter(self.group)
        # `usage_usec N` is the first line of version 2's.
        return int((self.group / name).read_text().split("\n")[0].split()[-1]) / COUNTERS[name]

    def close(self) -> None:
        """Leaves the group, with whoever is still in it."""
        if self.group is None:
            return
        for process in (self.group / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                (self.group.parent / "cgroup.procs").write_text(process)
        with contextlib.suppress(OSError):
            self.group.rmdir()
        self.group = None


def _entered(mount: Path) -> Path | None:
    for parent in _parents(mount, Path("/proc/self/cgroup").read_text()):
        group = parent / f"{NAME}.{os.getpid()}"
        try:
            _sweep(parent)
            group.mkdir()
            (group / "cgroup.procs").write_text(str(os.getpid()))
        except OSError:
            with contextlib.suppress(OSError):
                group.rmdir()
            continue
        return group
    return None


def _parents(mount: Path, told: str) -> list[Path]:
    """The groups of this process that count CPU, as /proc/self/cgroup tells them: `4:cpu,cpuacct:/a/b`, or `0::/a/b`."""
    lines = [line.split(":", 2) for line in told.splitlines()]
    folders = [mount / names / path.lstrip("/") for _, names, path in lines if "cpuacct" in names.split(",")]
    folders += [
        place / path.lstrip("/") for _, names, path in lines if not names for place in (mount, mount / "unified")
    ]
    return [folder for folder in folders if _counter(folder)]


def _counter(folder: Path) -> str:
    return next((name for name in COUNTERS if (folder / name).exists()), "")


def _sweep(parent: Path) -> None:
    """Groups that killed processes have left; one that is in use can't be removed."""
    for left in parent.glob(f"{NAME}.*"):
        if not Path("/proc", left.suffix[1:]).exists():
            for group in (*left.glob(f"{NAME}.*"), left):
                with contextlib.suppress(OSError):
                    group.rmdir()
