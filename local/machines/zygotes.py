"""Where machines' first processes come from: one zygote for this process, started when the first machine is."""

import contextlib
import json
import socket
import subprocess
import sys
import threading
from pathlib import Path

from . import root

# As many letters as a machine's folder may have: the name of its first process.
ROOM = " " * 300


class ZygoteError(Exception):
    """No first process came. The text says why."""


class ZygoteClient:
    """The zygote, one birth at a time; one that has died is followed by another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: socket.socket | None = None

    def first_process(self, folder: Path, console: int, lifeline: int, ready: int) -> tuple[int, int]:
        """Its number and its handle. Raises ZygoteError."""
        with self._lock:
            for last in (False, True):
                line = self._line = self._line or start()
                with contextlib.suppress(OSError):
                    socket.send_fds(line, [json.dumps(str(folder)).encode()], [console, lifeline, ready])
                    message, descriptors, _, _ = socket.recv_fds(line, 4096, 1)
                    if message:
                        reply = json.loads(message)
                        if "error" in reply:
                            raise ZygoteError(reply["error"])
                        return reply["pid"], descriptors[0]
                line.close()
                self._line = None
                if last:
                    raise ZygoteError("the process that machines are forked from has died")
        raise AssertionError


def start() -> socket.socket:
    """A new zygote. Isolated and without site packages: machines need only Python itself."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    words = [sys.executable, "-S", "-E", "-m", "local.machines.zygote", str(its.fileno()), ROOM]
    with its:
        subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd=root.REPOSITORY,
            pass_fds=(its.fileno(),),
            start_new_session=True,
        )
    return ours


ZYGOTE = ZygoteClient()
