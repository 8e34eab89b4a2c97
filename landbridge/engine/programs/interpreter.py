"""Starts a run's interpreter, and makes the folder that Pulumi takes for a virtual environment."""

import functools
import os
import shlex
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from . import client

FOLDER = "python"
_starting = threading.Lock()


def make_folder(within: Path) -> None:
    """FOLDER/bin/python, for the option `virtualenv` of a Pulumi.yaml. By a shell, since a #! line may be too short."""
    python = within / FOLDER / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    words = shlex.join([sys.executable, "-IS", str(Path(client.__file__)), sys.executable])
    python.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    python.chmod(0o755)


def environment(place: Mapping[str, str]) -> dict[str, str]:
    """What the language host must have in its environment so that its programs are forks of this run's interpreter.

    `place` is the environment of the fleet's place: modules may look at it when they are imported.
    """
    # Stacks begin side by side, and each interpreter costs seconds of a core: a cache alone lets them all start one.
    with _starting:
        return {client.ADDRESS: _started(tuple(sorted(place.items())))[0]}


@functools.lru_cache(maxsize=1)
def _started(place: tuple[tuple[str, str], ...]) -> tuple[str, "subprocess.Popen[bytes]"]:
    """The address of the interpreter, and itself: it ends as soon as nobody holds its input any more."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("")  # the kernel's own name for it: no file, and gone with the process
        listener.listen(socket.SOMAXCONN)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "landbridge.engine.programs.server", str(listener.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **dict(place)},
            pass_fds=[listener.fileno()],
            start_new_session=True,  # the terminal's Ctrl-C is the engine's to hear
        )
        return listener.getsockname()[1:].decode(), process
