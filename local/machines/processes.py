"""Which processes there are, and which belong to a unit: by descent, since control groups need real root."""

import contextlib
import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """One line of /proc."""

    pid: int
    parent: int
    session: int
    zombie: bool


def table() -> dict[int, Process]:
    found = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                process = read(int(entry.name))
                found[process.pid] = process
    return found


def read(pid: int) -> Process:
    # The name, in brackets, may hold anything: what follows is behind the last bracket.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return Process(pid, int(fields[1]), int(fields[3]), fields[0] in "ZX")


def carries(pid: int, variable: bytes) -> bool:
    """Whether a process inherited the variable `variable`."""
    with contextlib.suppress(OSError):
        return variable in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return False


def members(first: Iterable[int], invocation: str) -> set[int]:
    """Living processes of one run of a unit: of the sessions that `first` lead, and their descendants.

    Also all that carry the run's number in their environment, which shows those that left both.
    """
    everyone = table()
    leaders = set(first)
    variable = f"INVOCATION_ID={invocation}".encode()
    found = {p.pid for p in everyone.values() if p.session in leaders or p.pid in leaders}
    rest = {p.pid for p in everyone.values() if p.pid != 1 and p.pid not in found}
    found |= {pid for pid in rest if carries(pid, variable)}
    grown = True
    while grown:
        born = {p.pid for p in everyone.values() if p.parent in found and p.pid not in found}
        found |= born
        grown = bool(born)
    return {pid for pid in found if not everyone[pid].zombie}


def send(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
