"""A cloud's server over a folder, that a test kills and starts again, and what tests of every cloud's world need of it."""

import contextlib
import subprocess
import sys
import threading
import time
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tests.support.children import DYING_WITH_US

CALLERS = 4


class Fleet(ABC):
    """Of each kind that a fleet has one, in a server's world, with what was given out there."""

    @abstractmethod
    def seen(self) -> Any:
        """All that somebody who asks sees."""

    @abstractmethod
    def holds(self) -> None:
        """What is known of it by heart is so, each time the server is up."""

    @abstractmethod
    def goes_on(self) -> None:
        """What was given out still counts, and what waited ends."""


@dataclass
class Server(ABC):
    """One on the ports it was given; what it writes is in `log`."""

    words: list[str]
    url: str
    log: Path
    process: subprocess.Popen[bytes] | None = field(default=None)

    @abstractmethod
    def fleet(self) -> Fleet:
        """Made anew."""

    @abstractmethod
    def making(self) -> Callable[[int, int], str | None]:
        """Makes a thing by a caller's number and turn; its name, once the server has answered."""

    @abstractmethod
    def made(self) -> list[str]:
        """The names of such things."""

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


def killed_under_calls(server: Server) -> list[str]:
    """What four callers at once were answered until a kill while they called; the server is up again.

    What a call raises ends its caller.
    """
    answered: list[str] = []
    enough, make = threading.Event(), server.making()

    def calls(number: int) -> None:
        with contextlib.suppress(Exception):
            for turn in range(10_000):
                if made := make(number, turn):
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


Kind = TypeVar("Kind", bound=Server)


@contextlib.contextmanager
def running(server: Kind) -> Iterator[Kind]:
    server.start()
    try:
        yield server
    finally:
        server.kill()
