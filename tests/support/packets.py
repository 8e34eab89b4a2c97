"""Whether packets pass in a local cloud. Inside of it: `python -m tests.support.packets FOLDER PROBES`, see `Probe`.

Prints a list of whether each passed. Somebody listens at the other end, unless somebody does already.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from local.machines import network

if TYPE_CHECKING:
    from .cloud import Cloud

SECONDS = 2.0
TALK = """
import socket, sys
address, port, protocol = sys.argv[1], int(sys.argv[2]), sys.argv[3]
line = socket.socket(socket.AF_INET, socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM)
line.settimeout(float(sys.argv[4]))
line.bind((sys.argv[5], 0))
try:
    line.connect((address, port))
    if protocol == "udp":
        line.send(b"?")
        line.recv(1)
except OSError as error:
    sys.exit(str(error))
"""
LISTEN = """
import socket, sys
address, port, protocol = sys.argv[1], int(sys.argv[2]), sys.argv[3]
line = socket.socket(socket.AF_INET, socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM)
line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
try:
    line.bind((address, port))
except OSError:
    print("taken", flush=True)
    sys.exit()
if protocol == "tcp":
    line.listen(64)
print("ready", flush=True)
while True:
    if protocol == "tcp":
        line.accept()[0].close()
    else:
        line.sendto(b"!", line.recvfrom(1)[1])
"""


class Probe(TypedDict):
    """`source`: a machine's name, an address that the local cloud speaks with, or [router, address] of a card that is
    there for this alone; `target`: a machine's name, or an address that the local cloud answers at; `at`: at which of its
    own it does, where that is another."""

    source: str | list[str]
    target: str
    port: int
    protocol: str
    at: NotRequired[str]


def passed(cloud: "Cloud", *probes: Probe) -> list[bool]:
    """Asked from outside of it."""
    words = ("-m", "tests.support.packets", str(cloud.home / "local"), json.dumps(probes))
    return list(json.loads(cloud.inside(sys.executable, *words)))


class Prober:
    def __init__(self, home: Path) -> None:
        told = json.loads((home / "machines.json").read_text())
        self.home = home
        self.machines = {name: one for one in told for name in (one["machine"], one["instance"])}

    def ask(self, probe: Probe) -> bool:
        place = self.machines.get(probe["target"])
        address = place["address"] if place else probe["target"]
        words = [address, str(probe["port"]), probe["protocol"]]
        with (
            self.listening(place, [probe.get("at", address), *words[1:]]),
            self.source(probe["source"]) as (pid, bound),
        ):
            command = [*at(pid), sys.executable, "-c", TALK, *words, str(SECONDS), bound]
            return subprocess.run(command, capture_output=True, check=False).returncode == 0

    @contextlib.contextmanager
    def source(self, of: str | list[str]) -> Iterator[tuple[int, str]]:
        """A process whose network it is, and the address to speak with."""
        if isinstance(of, str):
            yield (self.machines[of]["pid"], "") if of in self.machines else (os.getpid(), of)
            return
        router, address = of
        process = subprocess.Popen(["unshare", "--net", "sleep", "60"])
        own = Path("/proc/self/ns/net").readlink()
        while Path(f"/proc/{process.pid}/ns/net").readlink() == own:
            time.sleep(0.01)
        end = network.plug(process.pid, network.Interface((f"{address}/32",)), self.home / "networks" / router)
        try:
            yield process.pid, ""
        finally:
            network.unplug(end, self.home / "networks" / router)
            process.kill()
            process.wait()

    @contextlib.contextmanager
    def listening(self, place: dict[str, Any] | None, words: list[str]) -> Iterator[None]:
        lent = place is None and not held(words[0])
        if lent:
            network.hold(words[0])
        command = [*(at(place["pid"]) if place else []), sys.executable, "-c", LISTEN, *words]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()
            process.wait()
            if lent:
                network.let_go(words[0])


def held(address: str) -> bool:
    """Whether the local cloud itself has an address."""
    command = ["ip", "-o", "addr", "show", "to", f"{address}/32"]
    return bool(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def at(pid: int) -> list[str]:
    return ["nsenter", f"--target={pid}", "--net"]


if __name__ == "__main__":
    prober = Prober(Path(sys.argv[1]))
    # One after the other: two of the same source would be in each other's way.
    sys.stdout.write(json.dumps([prober.ask(probe) for probe in json.loads(sys.argv[2])]))
