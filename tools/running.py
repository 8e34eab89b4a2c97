"""Runs the commands of the set-up: their output goes to a log, and its end is shown when one fails."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

LAST_LINES = 15


class SetupError(Exception):
    """What went wrong, why, and what to do, in words for the user."""


def run(command: list[str], log: Path, *, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """The command's standard output. Raises SetupError with the end of its log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    except OSError as error:
        raise SetupError(f"{command[0]} can't be run: {error.strerror}") from None
    log.write_text(f"$ {' '.join(command)}\n{done.stdout}{done.stderr}")
    if done.returncode != 0:
        last = "\n".join(f"    {line}" for line in (done.stdout + done.stderr).strip().splitlines()[-LAST_LINES:])
        raise SetupError(
            f"{Path(command[0]).name} failed ({done.returncode}). The end of {log}:\n{last}{_hint(last, log)}"
        )
    return done.stdout


def _hint(text: str, log: Path) -> str:
    hints = {
        "no space left": "the disk is full: {free} GiB are free where the log lies",
        "resolve host": "the package registries can't be reached: check network, proxy and DNS",
        "dial tcp": "the Go modules can't be reached: check network and GOPROXY",
        "connection refused": "the package registries can't be reached: check network and proxy",
        "ensurepip": "this Python lacks venv: on Debian and Ubuntu, apt install python3-venv",
    }
    for sign, hint in hints.items():
        if sign in text.lower():
            return f"\n  Perhaps {hint.format(free=shutil.disk_usage(log.parent).free >> 30)}."
    return ""


def cache_folder() -> Path:
    """Where built things are kept for all checkouts of a user. Raises SetupError when it can't be written."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "landbridge"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe.{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise SetupError(
            f"the cache {folder} can't be written ({error.strerror}): set XDG_CACHE_HOME to a folder that can"
        ) from None
    return folder
