"""The project's virtual environment: exactly what requirements.lock says, checked by hash."""

import hashlib
import os
import re
import sys
import tempfile
from pathlib import Path

from progress import Progress
from running import SetupError, run

NEEDED = (3, 11)
STEP = "Python packages"
STAMP = ".landbridge"


def steps(root: Path) -> list[str]:
    stamp = root / ".venv" / STAMP
    return [] if stamp.exists() and stamp.read_text() == _digest(root) else [STEP]


def set_up(root: Path, logs: Path, progress: Progress) -> None:
    """Raises SetupError. Does nothing when the environment is that of the lock already."""
    venv, lock = root / ".venv", root / "requirements.lock"
    if not steps(root):
        progress.reused(STEP)
        return
    with progress.step(STEP):
        if not (venv / "bin/python").exists():
            run([sys.executable, "-m", "venv", str(venv)], logs / "venv.log")
        python, uv = str(venv / "bin/python"), str(venv / "bin/uv")
        with tempfile.TemporaryDirectory() as folder:
            only_uv = Path(folder) / "uv.lock"
            only_uv.write_text(uv_lines(lock.read_text()))
            run([python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(only_uv)], logs / "uv.log")
        env = {**os.environ, "VIRTUAL_ENV": str(venv)}
        run([uv, "pip", "sync", "--require-hashes", str(lock)], logs / "packages.log", env=env)
        editable = [uv, "pip", "install", "--no-deps", "--no-build-isolation", "--editable", str(root)]
        run(editable, logs / "landbridge.log", env=env)
        (venv / STAMP).write_text(_digest(root))


def _digest(root: Path) -> str:
    parts = [(root / name).read_bytes() for name in ("requirements.lock", "pyproject.toml")]
    return hashlib.sha256(b"".join([*parts, sys.version.encode()])).hexdigest()


def uv_lines(lock: str) -> str:
    """The lock's entry for uv, which installs all the others."""
    entry = re.search(r"^uv==.*?(?=^\S)", f"{lock}\nend", re.MULTILINE | re.DOTALL)
    if entry is None:
        raise SetupError("requirements.lock has no uv in it. Run `make lock`.")
    return entry[0]
