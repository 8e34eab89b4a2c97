"""What the local cloud needs of the system: namespaces, the kernel's routing and filtering, and programs of runs."""

import contextlib
from pathlib import Path

import debian
from progress import Progress
from running import SetupError

NEEDED = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2", "nft": "nftables", "sysctl": "procps"}
# Of runs: their Valkey, Open MPI, and SSH between their hosts. Without them all else works.
RUNS = {
    "redis-server": "redis-server",
    "mpirun": "openmpi-bin",
    "/usr/sbin/sshd": "openssh-server",
    "ssh": "openssh-client",
}
SERVICES = ("nftables", "redis-server", "ssh")


def steps() -> list[str]:
    if not debian.can_install():
        return []
    return [_step(missing) for needed in (NEEDED, RUNS) if (missing := debian.missing(needed))]


def set_up(logs: Path, progress: Progress) -> None:
    """Installs what is missing, where root may; else says what to do, since the rest works. Raises SetupError."""
    missing = debian.missing(NEEDED)
    if missing and debian.can_install():
        with progress.step(_step(missing)):
            debian.install(missing, logs, SERVICES)
    elif missing:
        progress.say(f"`--local` needs packages of the system: sudo apt-get install {' '.join(missing)}")
    missing = debian.missing(RUNS)
    if missing and debian.can_install():
        with progress.step(_step(missing)), contextlib.suppress(SetupError):
            debian.install(missing, logs, SERVICES)
        missing = debian.missing(RUNS)
    if missing:
        progress.say(f"Runs by MPI or with a Valkey need, on the local cloud: sudo apt-get install {' '.join(missing)}")


def _step(missing: list[str]) -> str:
    return f"the local cloud's packages: {', '.join(missing)}"
