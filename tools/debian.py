"""Programs of the system that come in Debian's and Ubuntu's packages: which are missing, and having them installed."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from running import run

# Debian asks this before a new package's service is started; 101 means no.
POLICY = Path("/usr/sbin/policy-rc.d")
APT = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::http::Timeout=30"]
# An ordinary user's PATH need not have these.
SYSTEM = "/usr/sbin:/sbin"


def missing(needed: Mapping[str, str]) -> list[str]:
    """The packages that are not there; `needed` are packages by a file that one brings, or by a program in PATH."""
    return sorted({package for what, package in needed.items() if not _there(what)})


def _there(what: str) -> bool:
    path = f"{os.environ.get('PATH', os.defpath)}:{SYSTEM}"
    return Path(what).exists() if what.startswith("/") else shutil.which(what, path=path) is not None


def can_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(packages: Collection[str], logs: Path, services: Collection[str] = ()) -> None:
    """With none of the new `services` started, now or with the machine. Raises SetupError."""
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    new = [service for service in services if not _unit(service).exists()]
    with _nothing_starts():
        run(["timeout", "120", *APT, "update"], logs / "apt-update.log", env=env)
        command = ["timeout", "400", *APT, "install", "--no-install-recommends", *sorted(packages)]
        run(command, logs / "apt-install.log", env=env, to_the_end=True)
    for service in new:
        if shutil.which("systemctl") and _unit(service).exists():
            subprocess.run(["systemctl", "disable", service], capture_output=True, check=False)


@contextlib.contextmanager
def _nothing_starts() -> Iterator[None]:
    """A policy that somebody has already is left alone, and then it decides."""
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()


def _unit(service: str) -> Path:
    return Path(f"/usr/lib/systemd/system/{service}.service")
