"""A cloud's server over a folder, that a test kills and starts again."""

import contextlib
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.children import DYING_WITH_US

CALLERS = 4


@dataclass
class Server:
    """One on the ports it was given; what it writes is in `log`."""

    words: list[str]
    url: str
    log: Path
    process: subprocess.Popen[bytes] | None = field(default=None)

    def start(self) -> None:
        with self.log.open("ab") as log:
            command = [*DYING_WITH_US, sys.executable, "-m", *self.words]
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + 120
        while True:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.url}/landbridge-api/faults"):
                return
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)

    def kill(self) -> None:
        assert self.process
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        assert self.process
        self.process.terminate()
        self.process.wait(60)


def killed_under_calls(server: Server, call: Callable[[int, int], str | None]) -> list[str]:
    """What four callers at once were answered until a kill while they called; the server is up again.

    `call` gets a caller's number and turn; what it raises ends that caller.
    """
    answered: list[str] = []
    enough = threading.Event()

    def calls(number: int) -> None:
        with contextlib.suppress(Exception):
            for turn in range(10_000):
                if made := call(number, turn):
                    answered.append(made)
                if len(answered) > 40:
                    enough.set()

    callers = [threading.Thread(target=calls, args=(number,)) for number in range(CALLERS)]
    for one in callers:
        one.start()
    assert enough.wait(120)
    server.kill()
    for one in callers:
        one.join(60)
    server.start()
    return answered


@contextlib.contextmanager
def running(server: Server) -> Iterator[Server]:
    server.start()
    try:
        yield server
    finally:
        server.kill()
