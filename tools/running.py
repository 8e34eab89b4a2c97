"""Runs the commands of the set-up: their output goes to a log, and its end is shown when one fails."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from trust import trusting

LAST_LINES = 15
STOP_SECONDS = 10
UNTRUSTED = (
    "a company's authority signs what comes over the network, and this system does not know it: have it taken into the "
    "system's store (update-ca-certificates), or name its file in SSL_CERT_FILE"
)


class SetupError(Exception):
    """What went wrong, why, and what to do, in words for the user."""


def run(
    command: list[str],
    log: Path,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    to_the_end: bool = False,
) -> str:
    """The command's standard output. Raises SetupError with the end of its log.

    Ctrl-C ends it in good order, or lets it end by itself where a half of its work would be none.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        pipe, trusted = subprocess.PIPE, trusting(env or os.environ)
        done = subprocess.Popen(command, cwd=cwd, env=trusted, stdout=pipe, stderr=pipe, text=True)
    except OSError as error:
        raise SetupError(f"{command[0]} can't be run: {error.strerror}") from None
    try:
        stdout, stderr = done.communicate()
    except KeyboardInterrupt:
        _end(done, to_the_end=to_the_end)
        raise
    log.write_text(f"$ {' '.join(command)}\n{stdout}{stderr}")
    if done.returncode != 0:
        last = "\n".join(f"    {line}" for line in (stdout + stderr).strip().splitlines()[-LAST_LINES:])
        raise SetupError(
            f"{Path(command[0]).name} failed ({done.returncode}). The end of {log}:\n{last}{_hint(last, log)}"
        )
    return stdout


def _end(process: subprocess.Popen[str], *, to_the_end: bool) -> None:
    """Whoever asks a second time gets it at once."""
    try:
        if not to_the_end:
            process.send_signal(signal.SIGINT)  # it has heard a terminal's, but not one that was sent to us alone
        process.communicate(timeout=None if to_the_end else STOP_SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.kill()
        process.wait()


def _hint(text: str, log: Path) -> str:
    hints = {
        "no space left": "the disk is full: {free} GiB are free where the log lies",
        "unknownissuer": UNTRUSTED,
        "certificate verify failed": UNTRUSTED,
        "unknown authority": UNTRUSTED,
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
