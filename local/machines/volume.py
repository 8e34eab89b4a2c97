"""Lays a folder into a running machine, or takes it away: `python -m local.machines.volume PID attach PATH SOURCE`.

A process of its own, since only one with a single thread may change its mount namespace.
"""

import sys
from pathlib import Path

from . import kernel


def attach(pid: int, path: Path, source: Path) -> None:
    # The bind is made on this side, where the folder is, and set down on that side.
    descriptor = kernel.clone_mount(source)
    kernel.enter_mounts(pid)
    path.mkdir(parents=True, exist_ok=True)
    kernel.attach_mount(descriptor, path)


def detach(pid: int, path: Path) -> None:
    kernel.enter_mounts(pid)
    kernel.unmount(path)
    path.rmdir()


def main() -> None:
    pid, verb, path = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    try:
        if verb == "attach":
            attach(pid, path, Path(sys.argv[4]))
        else:
            detach(pid, path)
    except OSError as error:
        sys.exit(f"{verb} {path}: {error.strerror}")


if __name__ == "__main__":
    main()
