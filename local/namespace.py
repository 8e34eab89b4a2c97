"""A network and mount namespace of the user's own: how it is made, how it is entered, what to do where it is forbidden.

An ordinary user needs a user namespace around it (and is root in there, over nothing but it); root does not.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .errors import NamespaceError as NamespaceError
from .machines import network


class Mode(NamedTuple):
    """Flags that make a namespace, and those that enter it."""

    name: str
    make: tuple[str, ...]
    enter: tuple[str, ...]


ROOT = Mode("root", ("--net", "--mount"), ("--net", "--mount"))
USER = Mode(
    "user",
    ("--user", "--map-root-user", "--net", "--mount"),
    # The credentials stay: setgroups is forbidden in a user namespace that an ordinary user made.
    ("--user", "--preserve-credentials", "--net", "--mount"),
)
MODES = {mode.name: mode for mode in (ROOT, USER)}


class Switch(NamedTuple):
    """A kernel setting that forbids user namespaces while it has the value `off`."""

    setting: str
    off: str
    on: str


# Debian's patch, Ubuntu's since 23.10, and the kernel's own (user_namespaces(7)).
SWITCHES = (
    Switch("kernel.unprivileged_userns_clone", "0", "1"),
    Switch("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
    Switch("user.max_user_namespaces", "0", "15000"),
)


def usable_mode() -> Mode:
    """The first way that works here. Raises NamespaceError with the remedy when none does, or a program is missing."""
    if missing := lacking():
        raise NamespaceError(
            f"The local cloud needs {' and '.join(missing)}: install {', '.join(sorted(set(missing.values())))}, "
            f"on Debian and Ubuntu by `sudo apt-get install {' '.join(sorted(set(missing.values())))}`."
        )
    modes = (ROOT, USER) if os.geteuid() == 0 else (USER,)
    refusals = []
    for mode in modes:
        refusal = try_mode(mode)
        if refusal is None:
            return mode
        refusals.append(refusal)
    raise NamespaceError(
        f"This machine does not let the local cloud have a namespace of its own: {refusals[-1]}\n{remedy()}"
    )


def lacking() -> dict[str, str]:
    """Programs that are not there → the packages they come in."""
    path = f"{os.environ.get('PATH', os.defpath)}:{network.SYSTEM}"
    return {name: package for name, package in network.PACKAGES.items() if shutil.which(name, path=path) is None}


def try_mode(mode: Mode) -> str | None:
    """None if the namespace can be made and a file mounted over in it, else the refusal."""
    probe = ["unshare", *mode.make, "mount", "--bind", "/etc/hosts", "/etc/hosts"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip() or f"{probe[0]} ended with {done.returncode}"


def remedy(settings: Path = Path("/proc/sys")) -> str:
    """What to tell a user whose machine refused, from the kernel's settings under `settings`."""
    commands = [f"sudo sysctl -w {s.setting}={s.on}" for s in SWITCHES if setting(settings, s.setting) == s.off]
    if commands:
        return f"Allow it with `{' && '.join(commands)}`, or run landbridge as root."
    return (
        "Run landbridge as root; inside a container, start that container with the right to make namespaces "
        "(Docker and Podman: --cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined)."
    )


def setting(settings: Path, name: str) -> str | None:
    file = settings / name.replace(".", "/")
    return file.read_text().strip() if file.exists() else None


def enter_command(mode: Mode, pid: int, argv: Sequence[str], folder: Path) -> list[str]:
    """The command that runs `argv` in `folder` inside the namespace of process `pid`."""
    # Entering a mount namespace leads to its root folder; nsenter's --wdns came with util-linux 2.38.
    inside = ["sh", "-c", 'cd "$0" && exec "$@"', str(folder), *argv]
    return ["nsenter", f"--target={pid}", *mode.enter, "--", *inside]
