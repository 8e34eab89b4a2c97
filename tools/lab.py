"""Sees to what the network lab needs: `python3 tools/lab.py`, standard library only. `make lab` calls it."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from progress import Progress
from running import SetupError, run

ROOT = Path(__file__).resolve().parent.parent
# What a package brings that the lab runs → the package, as Debian and Ubuntu call it.
NEEDED = {
    "/usr/sbin/charon-systemd": "charon-systemd",
    "/usr/sbin/swanctl": "strongswan-swanctl",
    "/usr/lib/ipsec/plugins/libstrongswan-kernel-libipsec.so": "libcharon-extra-plugins",
    "/usr/lib/ipsec/plugins/libstrongswan-openssl.so": "libstrongswan-standard-plugins",
    "/usr/lib/frr/bgpd": "frr",
    "/usr/bin/vtysh": "frr",
    "/usr/sbin/nft": "nftables",
    "/usr/sbin/sysctl": "procps",
}
# Programs whose folder differs from one system to the next.
PROGRAMS = {"ping": "iputils-ping", "ip": "iproute2", "unshare": "util-linux", "nsenter": "util-linux"}
SERVICES = ("strongswan", "frr", "nftables")
# Debian asks this before a new package's service is started; 101 means no.
POLICY = Path("/usr/sbin/policy-rc.d")
APT = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::http::Timeout=30"]


def packages() -> list[str]:
    """Those that are not there."""
    files = {package for path, package in NEEDED.items() if not Path(path).exists()}
    return sorted(files | {package for program, package in PROGRAMS.items() if not shutil.which(program)})


def lacking() -> str:
    """Why the lab can't run here and what to do, or nothing."""
    if sys.platform != "linux":
        return f"its namespaces are Linux's, and this is {sys.platform}: run `make lab` on Linux"
    if os.geteuid() != 0:
        return "it makes network devices, for which one has to be root: run `sudo make lab`"
    if not Path("/dev/net/tun").exists():
        return "/dev/net/tun is missing: `modprobe tun`, or give it to the container (--device /dev/net/tun)"
    if missing := packages():
        return f"packages are missing: run `make lab` as root, or `apt-get install {' '.join(missing)}`"
    return ""


@contextlib.contextmanager
def nothing_starts() -> Iterator[None]:
    """New services stay off; a policy that somebody has already is left alone, and then it decides."""
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()


def install(missing: list[str]) -> None:
    """Raises SetupError."""
    logs = ROOT / ".landbridge/logs/setup"
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    new = [service for service in SERVICES if not _unit(service).exists()]
    with nothing_starts():
        run(["timeout", "120", *APT, "update"], logs / "apt-update.log", env=env)
        command = ["timeout", "400", *APT, "install", "--no-install-recommends", *missing]
        run(command, logs / "apt-install.log", env=env)
    for service in new:
        # Nor may they start with the machine.
        if shutil.which("systemctl") and _unit(service).exists():
            subprocess.run(["systemctl", "disable", service], capture_output=True, check=False)


def _unit(service: str) -> Path:
    return Path(f"/usr/lib/systemd/system/{service}.service")


def main() -> int:
    progress = Progress()
    try:
        missing = packages() if sys.platform == "linux" and os.geteuid() == 0 else []
        if missing and shutil.which("apt-get"):
            with progress.step(f"the network lab's packages: {', '.join(missing)}"):
                install(missing)
        reason = lacking()
    except SetupError as error:
        reason = str(error)
    if not reason:
        return 0
    print(f"THE NETWORK LAB CAN'T BE RUN: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
