"""The processes that make up the local cloud, each started again with its world when it dies. One thread uses them."""

import contextlib
import ctypes
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .azure.names import ADDRESS as AZURE_ADDRESS
from .azure.names import PORT as AZURE_PORT
from .environment import AWS_URL, AZURE_URL

# So many deaths of one part within so many seconds end all: it would die again.
MOST_DEATHS, WITHIN_SECONDS = 6, 60.0
# It is started again after so long, twice as long each time it died of late; at once at first.
AGAIN_SECONDS = 0.25
# A cloud writes down all it holds, which takes seconds beside a load.
END_SECONDS = 10.0
# Who is a part, how often it was started in this life of the daemon.
RECORD = "parts.json"


class Part(NamedTuple):
    """A process of the local cloud, ready when its port answers."""

    name: str
    module: str
    port: int
    flags: tuple[str, ...] = ()

    def argv(self, home: Path) -> list[str]:
        flags = [flag.format(home=home) for flag in self.flags]
        return [sys.executable, "-m", self.module, "--port", str(self.port), *flags]


AZURE_FLAGS = ("--azure", f"{AZURE_ADDRESS}:{AZURE_PORT}", "--azure-authority", "{home}/azure-authority/ca.crt")
PARTS = (
    Part("AWS API", "local.aws.server", 5000, ("--home", "{home}")),
    Part("Azure API", "local.azure.server", 5003, ("--home", "{home}", "--issuers", f"{AZURE_ADDRESS}:80")),
    Part("provider host", "local.providers.host", 5001, ("--aws", AWS_URL, *AZURE_FLAGS)),
    Part(
        "machines service",
        "local.supervisor.server",
        5002,
        ("--home", "{home}", "--aws", AWS_URL, "--azure", AZURE_URL),
    ),
)


class PartError(Exception):
    """A part does not stay alive. The text says which, and how it ended."""


class Processes:
    """All of them; `log` hears of deaths and starts."""

    def __init__(self, home: Path, log: Callable[[str], None], parts: Sequence[Part] = PARTS) -> None:
        self.home, self.log, self.parts = home, log, parts
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.starts: dict[str, int] = {}
        self.deaths: dict[str, list[float]] = {}
        self.due: dict[str, float] = {}

    def start(self) -> None:
        for part in self.parts:
            self.launch(part)

    def launch(self, part: Part) -> None:
        self.processes[part.name] = subprocess.Popen(
            part.argv(self.home), stdin=subprocess.DEVNULL, preexec_fn=die_with_parent
        )
        self.starts[part.name] = self.starts.get(part.name, 0) + 1
        draft = self.home / f"{RECORD}.new"
        record = {name: {"pid": self.processes[name].pid, "starts": n} for name, n in self.starts.items()}
        draft.write_text(json.dumps(record))
        draft.replace(self.home / RECORD)

    def tend(self) -> float | None:
        """Starts again what has died; gives the seconds until it wants to be asked again. Raises PartError."""
        now = time.monotonic()
        for part in self.parts:
            process = self.processes[part.name]
            if part.name not in self.due and process.poll() is not None:
                self.due[part.name] = now + self.mourn(part.name, process, now)
            if part.name in self.due and self.due[part.name] <= now:
                del self.due[part.name]
                self.launch(part)
                self.log(f"started the {part.name} again (process {self.processes[part.name].pid})")
        return max(0.0, min(self.due.values()) - now) if self.due else None

    def mourn(self, name: str, process: "subprocess.Popen[bytes]", now: float) -> float:
        """Notes a death; gives how long to wait until the next start. Raises PartError."""
        recent = [one for one in self.deaths.get(name, ()) if one > now - WITHIN_SECONDS]
        self.deaths[name] = [*recent, now]
        how = f"the {name} (process {process.pid}) {end_in_words(process.returncode)}"
        if len(recent) + 1 >= MOST_DEATHS:
            raise PartError(f"{how}, for the {MOST_DEATHS}th time within {WITHIN_SECONDS:.0f} s")
        self.log(how)
        return float(AGAIN_SECONDS * (2 ** len(recent) - 1))

    def await_up(self, seconds: float) -> None:
        """At the start, when a death means that there is something wrong. Raises PartError."""
        deadline = time.monotonic() + seconds
        for part in self.parts:
            while not answers(part.port):
                for name, process in self.processes.items():
                    if process.poll() is not None:
                        raise PartError(f"the {name} (process {process.pid}) {end_in_words(process.returncode)}")
                if time.monotonic() > deadline:
                    raise PartError(f"the {part.name} did not answer on port {part.port} within {seconds:.0f} s")
                time.sleep(0.02)

    def end(self) -> None:
        """Asks them to end, and makes those that do not."""
        for process in self.processes.values():
            process.terminate()
        deadline = time.monotonic() + END_SECONDS
        for process in self.processes.values():
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def end_in_words(code: int) -> str:
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"


def answers(port: int) -> bool:
    """From inside of the local cloud."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def recorded(home: Path) -> dict[str, Any]:
    """Part → its process's number and how often it was started, as the daemon last told."""
    try:
        record: dict[str, Any] = json.loads((home / RECORD).read_text())
    except FileNotFoundError:
        return {}
    return record


def die_with_parent() -> None:
    """In a child before exec: the kernel kills it when the daemon dies, even by SIGKILL; signals are its own again."""
    libc = ctypes.CDLL(None)
    libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
