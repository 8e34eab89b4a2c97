"""A cloud's server over a folder, that a test kills and starts again."""

import contextlib
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.children import DYING_WITH_US


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


@contextlib.contextmanager
def running(server: Server) -> Iterator[Server]:
    server.start()
    try:
        yield server
    finally:
        server.kill()
