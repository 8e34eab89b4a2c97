"""The Python packages of our services' container, for the Python in it: what services/requirements.lock says."""

import fcntl
import hashlib
import os
import shutil
import sys
from pathlib import Path

from progress import Progress
from running import SetupError, run

# Beside the programs of images.
FOLDER = "services"
LOCK = Path(__file__).resolve().parents[1] / "services/requirements.lock"
# glibc of Debian 12, which wheels for newer ones would not run on.
PLATFORM = "x86_64-manylinux_2_36"


def set_up(programs: Path, python: str, logs: Path, progress: Progress) -> None:
    """`python` is a version such as 3.13. Raises SetupError. Does nothing where they lie there already."""
    lock, folder = LOCK, programs / "image" / FOLDER
    # Bakes run beside each other.
    with folder.with_suffix(".lock").open("w") as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)
        _set_up(lock, folder, python, logs, progress)


def _set_up(lock: Path, folder: Path, python: str, logs: Path, progress: Progress) -> None:
    stamp = folder.with_suffix(".stamp")
    digest = hashlib.sha256(f"{python} {PLATFORM}\n".encode() + lock.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        progress.reused("Python packages of the services' container")
        return
    with progress.step("Python packages of the services' container"):
        shutil.rmtree(folder, ignore_errors=True)
        stamp.unlink(missing_ok=True)
        command = [uv(), "pip", "install", "--target", str(folder), "--python-version", python]
        command += ["--python-platform", PLATFORM, "--only-binary", ":all:", "--no-deps", "--require-hashes"]
        run([*command, "--link-mode", "copy", "--requirement", str(lock)], logs / "services.log")
        stamp.write_text(digest)


def uv() -> str:
    """The one of our own Python, else the one on the PATH. Raises SetupError."""
    here = Path(sys.executable).parent
    if found := shutil.which("uv", path=os.pathsep.join([str(here), os.environ.get("PATH", "")])):
        return found
    raise SetupError("packages of the services' container are installed by uv, which is missing: pip install uv")
