"""Becomes a container's process: process 1 of a new namespace, or one beside it, in mounts of its own.

Its words are two descriptors: a file with what to become, in JSON, and a socket for what stands in the way, which
closes without a word when all went well.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import shutil
import signal
import sys
import termios
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from local.machines import kernel, spawn

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
# A runtime's own exit code for what does not start.
BROKEN = 128
SAFE = kernel.MS_NOSUID | kernel.MS_NODEV
TMP = Path("/tmp")  # noqa: S108  (each container's own)
ETC = Path("/etc")
# Programs lie in these, which may lie below /tmp: the checkout, or the environment that Landbridge is installed in.
OURS = (Path(__file__).parents[2], Path(sys.executable).parents[1])


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
        if spec["own_etc"]:
            own_etc()
        lay(spec["mounts"], spec["folder"], read_only=spec["read_only"], scratch=spec["scratch"])
    if name := spec["host_name"]:
        kernel.own_host_name(name)
    if spec["session"]:
        os.setsid()
    if spec["terminal"]:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    if account := spec["account"]:
        if spec["terminal"]:
            # As runtimes do: it may open its own terminal again.
            os.fchown(0, account["user"], -1)
        spawn.switch(spawn.Account(account["user"], account["group"], tuple(account["groups"])))
    if spec["no_new_privileges"]:
        prctl(PR_SET_NO_NEW_PRIVS, 1)
    # The change of user has cleared it.
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        # Python ignores these, and the program would inherit that.
        signal.signal(number, signal.SIG_DFL)
    os.chdir(spec["folder"])
    os.execve(found(spec["program"], spec["environment"]), spec["words"], spec["environment"])  # noqa: S606


def found(program: str, environment: dict[str, str]) -> str:
    """Where it is. Raises OSError."""
    path = program if "/" in program else shutil.which(program, path=environment.get("PATH", ""))
    if path is None:
        raise FileNotFoundError(errno.ENOENT, "no such file on the container's PATH", program)
    return path


def own_etc() -> None:
    """An /etc of its own, with what the machine's has just now. Raises OSError.

    A file of it can then have another mounted over it for good: whoever replaces the machine's own, as is done with its
    hosts file, takes away whatever is mounted there in all namespaces (mount_namespaces(7), "Restrictions").
    """
    with os.scandir(ETC) as found:
        entries = list(found)
    folders = {one.name: kernel.clone_mount(Path(one)) for one in entries if one.is_dir(follow_symlinks=False)}
    machine = os.open(ETC, os.O_PATH)
    kernel.mount("tmpfs", ETC, "tmpfs", SAFE, "mode=0755")
    for name, descriptor in folders.items():
        (ETC / name).mkdir()
        kernel.attach_mount(descriptor, ETC / name)
        os.close(descriptor)
    for one in entries:
        # Reached by the descriptor: what lies under the mount has no other path.
        if one.name not in folders and (one.is_symlink() or one.is_file()):
            shutil.copy2(f"/proc/self/fd/{machine}/{one.name}", ETC / one.name, follow_symlinks=False)
    os.close(machine)


def lay(mounts: list[dict[str, Any]], folder: str, *, read_only: bool, scratch: bool) -> None:
    """The volumes at their places, in a tree that is the machine's otherwise. Raises OSError.

    Where it has no such place yet, an empty folder or file stays in it, which all later containers see.
    """
    mounts = sorted(mounts, key=lambda one: Path(one["at"]).parts)
    for one in mounts:
        place(one)
    with contextlib.suppress(OSError):
        # As runtimes do; where it can't be, the change into it says so.
        Path(folder).mkdir(parents=True, exist_ok=True)
    # Taken before the tree is made read-only: they would be, too.
    taken = [kernel.clone_mount(Path(one["source"])) for one in mounts]
    ours = {path: kernel.clone_mount(path) for path in outermost(OURS) if scratch and path.is_relative_to(TMP)}
    if read_only:
        kernel.restrict(Path("/"), kernel.MS_RDONLY)
    if scratch:
        kernel.mount("tmpfs", TMP, "tmpfs", SAFE, "mode=1777")
        for path, descriptor in ours.items():
            path.mkdir(parents=True)
            kernel.attach_mount(descriptor, path)
            os.close(descriptor)
    kernel.mount("tmpfs", Path("/dev/shm"), "tmpfs", SAFE, "mode=1777")  # noqa: S108
    kernel.mount("proc", Path("/proc"), "proc", SAFE | kernel.MS_NOEXEC)
    for one, descriptor in zip(mounts, taken, strict=True):
        target = place(one)
        kernel.attach_mount(descriptor, target)
        kernel.restrict(target, SAFE | (kernel.MS_RDONLY if one["read_only"] else 0))
        os.close(descriptor)


def outermost(paths: Iterable[Path]) -> list[Path]:
    """Without those that lie below another."""
    return [path for path in paths if not any(other in path.parents for other in paths)]


def place(mount: dict[str, Any]) -> Path:
    """Where it goes: a folder, or a file for a file. Raises OSError."""
    target = Path(mount["at"])
    if Path(mount["source"]).is_dir():
        target.mkdir(parents=True, exist_ok=True)
    elif not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    return target


def prctl(option: int, value: int) -> None:
    kernel.check(kernel.LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


if __name__ == "__main__":
    main()
