"""The local cloud's own user, network and mount namespaces, through util-linux: no root, and no way out to a real cloud."""

import fcntl
import socket
import struct
from pathlib import Path

UNSHARE = ("unshare", "--user", "--map-root-user", "--net", "--mount")
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1  # linux/sockios.h, linux/if.h

FORBIDDEN = """\
this kernel does not let you make a namespace of your own, which the local cloud lives in ({reason}).
Allow it, as root, with whichever of these your system has:
  sysctl -w user.max_user_namespaces=15000
  sysctl -w kernel.unprivileged_userns_clone=1                  (Debian before 11)
  sysctl -w kernel.apparmor_restrict_unprivileged_userns=0      (Ubuntu 24.04 and later)
or run the command as root."""


def enter(pid: int, folder: str, command: list[str]) -> list[str]:
    """The command that runs `command` inside the namespaces of `pid`, in `folder`."""
    # Entering a mount namespace drops the current folder; sh puts it back.
    inside = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', folder, *command]
    return ["nsenter", "--preserve-credentials", "--user", "--net", "--mount", "-t", str(pid), "--", *inside]


def bring_up_loopback() -> None:
    """A new network namespace has a loopback interface that is down; no iproute2 is needed to raise it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sH14x", b"lo", 0)
        (flags,) = struct.unpack_from("H", fcntl.ioctl(control, SIOCGIFFLAGS, request), 16)
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


def started_at(pid: int) -> str | None:
    """When a process began, in clock ticks since boot, so that a pid used again is not taken for ours; None if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def alone() -> bool:
    """Whether this process has no way to other machines: the guard before anything listens or calls."""
    return len(Path("/proc/net/route").read_text().splitlines()) <= 1  # a heading, and no route
