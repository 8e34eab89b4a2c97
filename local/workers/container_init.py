"""Becomes a container's process: process 1 of a new namespace, or one beside it, in mounts of its own.

Its words are two descriptors: a file with what to become, in JSON, and a socket for what stands in the way, which
closes without a word when all went well.
"""

import ctypes
import fcntl
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from local.machines import kernel, spawn

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
# A runtime's own exit code for what does not start.
BROKEN = 128
SAFE = kernel.MS_NOSUID | kernel.MS_NODEV
TMP = Path("/tmp")  # noqa: S108  (each container's own)
# Programs lie in it, and it may lie below /tmp.
REPOSITORY = Path(__file__).parents[2]


def main() -> None:
    # With the kubelet's thread, whatever happens to that.
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    given, write_end = int(sys.argv[1]), int(sys.argv[2])
    fcntl.fcntl(write_end, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    try:
        with os.fdopen(given) as file:
            become(json.load(file))
    except (OSError, ValueError) as error:
        os.write(write_end, str(error).encode())
    os._exit(BROKEN)


def become(spec: dict[str, Any]) -> None:
    """Never returns. Raises OSError."""
    if spec["beside"]:
        kernel.enter_mounts(spec["beside"])
    else:
        kernel.own_mounts()
        lay(spec["mounts"], read_only=spec["read_only"])
    if name := spec["host_name"]:
        kernel.own_host_name(name)
    if account := spec["account"]:
        spawn.switch(spawn.Account(account["user"], account["group"], tuple(account["groups"])))
    if spec["no_new_privileges"]:
        prctl(PR_SET_NO_NEW_PRIVS, 1)
    # The change of user has cleared it.
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        # Python ignores these, and the program would inherit that.
        signal.signal(number, signal.SIG_DFL)
    os.chdir(spec["folder"])
    os.execve(spec["program"], spec["words"], spec["environment"])  # noqa: S606


def lay(mounts: list[dict[str, Any]], *, read_only: bool) -> None:
    """The volumes at their places, in a tree that is the machine's otherwise. Raises OSError."""
    mounts = sorted(mounts, key=lambda one: Path(one["at"]).parts)
    for one in mounts:
        Path(one["at"]).mkdir(parents=True, exist_ok=True)
    # Taken before the tree is made read-only: they would be, too.
    taken = [kernel.clone_mount(Path(one["source"])) for one in mounts]
    if read_only:
        kernel.restrict(Path("/"), kernel.MS_RDONLY)
    else:
        ours = kernel.clone_mount(REPOSITORY) if REPOSITORY.is_relative_to(TMP) else None
        kernel.mount("tmpfs", TMP, "tmpfs", SAFE, "mode=1777")
        if ours is not None:
            REPOSITORY.mkdir(parents=True)
            kernel.attach_mount(ours, REPOSITORY)
            os.close(ours)
    kernel.mount("tmpfs", Path("/dev/shm"), "tmpfs", SAFE, "mode=1777")  # noqa: S108
    kernel.mount("proc", Path("/proc"), "proc", SAFE | kernel.MS_NOEXEC)
    for one, descriptor in zip(mounts, taken, strict=True):
        target = Path(one["at"])
        target.mkdir(parents=True, exist_ok=True)
        kernel.attach_mount(descriptor, target)
        kernel.restrict(target, SAFE | (kernel.MS_RDONLY if one["read_only"] else 0))
        os.close(descriptor)


def prctl(option: int, value: int) -> None:
    kernel.check(kernel.LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


if __name__ == "__main__":
    main()
