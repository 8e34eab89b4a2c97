"""What these commands call: pip-audit and CycloneDX's schemas by tools/audit.lock, govulncheck from source."""

import hashlib
import os
import shutil
import sys
from pathlib import Path

import go_itself
import go_tools
from go_tools import Tool
from progress import Progress
from running import run

GOVULNCHECK = Tool("govulncheck", "govulncheck", "golang.org/x/vuln/cmd/govulncheck", "-s -w")


def python(root: Path, cache: Path, logs: Path, progress: Progress) -> Path:
    """The folder of programs of an environment of its own: what audits the packages is none of them.

    Raises SetupError.
    """
    lock = root / "tools/audit.lock"
    key = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:16]
    home = cache / "tools" / f"audit-{key}"
    if not (home / "made").exists():
        with progress.step("pip-audit and CycloneDX's schemas"):
            shutil.rmtree(home, ignore_errors=True)
            uv = str(root / ".venv/bin/uv")
            run([uv, "venv", "--quiet", "--python", sys.executable, str(home)], logs / "audit.log")
            env = {**os.environ, "VIRTUAL_ENV": str(home)}
            run([uv, "pip", "sync", "--quiet", "--require-hashes", str(lock)], logs / "audit.log", env=env)
            (home / "made").touch()
    return home / "bin"


def govulncheck(root: Path, cache: Path, logs: Path, progress: Progress) -> Path:
    """Raises SetupError."""
    return go_tools.build((GOVULNCHECK,), "govulncheck", root / "tools", cache, logs, progress) / "govulncheck"


def go(root: Path, cache: Path, logs: Path, progress: Progress) -> str:
    """Raises SetupError."""
    return go_itself.find(cache, root / "tools", logs, progress)
