"""What the local cloud needs of the system: namespaces, the kernel's routing and filtering, and programs of runs."""

from pathlib import Path

import debian
from progress import Progress

NEEDED = {
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "ip": "iproute2",
    "nft": "nftables",
    "sysctl": "procps",
    # For runs: their Valkey, Open MPI, and SSH between their hosts.
    "redis-server": "redis-server",
    "mpirun": "openmpi-bin",
    "/usr/sbin/sshd": "openssh-server",
    "ssh": "openssh-client",
}
SERVICES = ("nftables", "redis-server", "ssh")


def steps() -> list[str]:
    missing = debian.missing(NEEDED)
    return [_step(missing)] if missing and debian.can_install() else []


def set_up(logs: Path, progress: Progress) -> None:
    """Installs what is missing, where root may; else says what to do, since the rest works. Raises SetupError."""
    missing = debian.missing(NEEDED)
    if missing and debian.can_install():
        with progress.step(_step(missing)):
            debian.install(missing, logs, SERVICES)
    elif missing:
        progress.say(f"`--local` needs packages of the system: sudo apt-get install {' '.join(missing)}")


def _step(missing: list[str]) -> str:
    return f"the local cloud's packages: {', '.join(missing)}"
