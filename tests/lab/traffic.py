"""Flows between the site's host and a region's, and what became of them."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from .machines import LabError, Machine

SCRIPT = (sys.executable, "-I", str(Path(__file__).with_name("flows.py")))
EVERY_SECONDS, LONGEST_SECONDS = 0.05, 200.0


class Result:
    """Known when the flows have ended: the longest pause of any flow, and questions of all that had no answer."""

    sent = lost = 0
    gap_seconds = 0.0

    def __str__(self) -> str:
        return f"longest pause {self.gap_seconds:.2f} s, {self.lost} of {self.sent} lost"


def serve(machine: Machine, addresses: Sequence[str]) -> None:
    machine.start(*SCRIPT, "serve", *addresses, seconds=1800)


@contextlib.contextmanager
def asking(machine: Machine, sources: Sequence[str], targets: Sequence[str]) -> Iterator[Result]:
    """While the block runs."""
    words = [*SCRIPT, "ask", f"{EVERY_SECONDS:g}", ",".join(sources), ",".join(targets)]
    process, result = machine.start(*words, seconds=LONGEST_SECONDS, out=subprocess.PIPE), Result()
    try:
        yield result
    finally:
        said, _ = process.communicate(timeout=15)
    if not said:
        raise LabError(f"{machine.name}: the flows have not told what became of them: {machine.log.read_text()[-500:]}")
    flows = json.loads(said)
    result.sent, result.lost = sum(one["sent"] for one in flows), sum(one["lost"] for one in flows)
    result.gap_seconds = max(one["gap_seconds"] for one in flows)


def moved(machine: Machine, what: str, source: str, target: str, size: int, seconds: float) -> bool:
    """Whether so many bytes came over in that time; `what` is send or fetch."""
    return machine.attempt(*SCRIPT, what, source, target, str(size), seconds=seconds).returncode == 0


def knock(machine: Machine, kind: str, source: str, target: str, port: int) -> None:
    machine.run(*SCRIPT, kind, source, target, str(port))


class Witness:
    """Counts what comes to a machine and matches; after the machine's own filters if `past_filters`."""

    def __init__(self, machine: Machine, match: str, *, past_filters: bool = False) -> None:
        self.machine = machine
        hook = "input priority filter + 10" if past_filters else "prerouting priority raw"
        chain = f"chain witness {{ type filter hook {hook}; {match} counter; }}"
        self._table = f"table ip witness {{\n{chain}\n}}"

    def __enter__(self) -> "Witness":
        self.machine.nft(self._table)
        return self

    def __exit__(self, *_: object) -> None:
        self.machine.nft("delete table ip witness")

    def packets(self) -> int:
        listed = json.loads(self.machine.run("nft", "-j", "list", "table", "ip", "witness"))["nftables"]
        parts = [part for one in listed for part in one.get("rule", {}).get("expr", [])]
        return sum(part["counter"]["packets"] for part in parts if "counter" in part)


def pings(machine: Machine, source: str, target: str, *, size: int = 56, count: int = 3) -> bool:
    """Whether any of some answers came. Nothing may be cut into pieces on its way."""
    words = ["ping", "-n", "-c", str(count), "-i", "0.2", "-W", "1", "-M", "do", "-s", str(size), "-I", source, target]
    return machine.attempt(*words, seconds=10).returncode == 0
