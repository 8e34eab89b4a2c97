"""What the kernel does not say by itself, or not again: whether what was wrong is still so. Looks at /proc and /sys,
and at what scripts have found that look after what this machine serves.

Each look takes the subjects that are known to be wrong, and gives those that are wrong now, with what is to be said.
"""

import ctypes
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from kernel_lines import Finding

PROC, SYS = Path("/proc"), Path("/sys")
# What `report` in health.py writes, four times an hour or more. What nobody looks after any more says nothing.
HEALTH, FRESH_SECONDS = Path("/var/lib/landbridge/metrics"), 3600.0
DISKS, SHARES = {"ext4", "xfs", "btrfs"}, {"nfs", "nfs4"}
# What a file system's own options say once the kernel has given it up; ext4 says it by the second since 6.15.
GIVEN_UP = {"ro", "emergency_ro"}
# At a start chrony needs a moment, and so does a source that was away.
CLOCK_PATIENCE_SECONDS = 600.0
TIME_ERROR = 5
Known = Collection[str]
Wrong = Mapping[str, Finding | None]


class Mount(NamedTuple):
    """`options` are the mount's own, `inner` its file system's. `disk` is the kernel's name where it has one."""

    point: str
    kind: str
    source: str
    disk: str
    options: frozenset[str]
    inner: frozenset[str]


def mounts() -> list[Mount]:
    return [*_mounts((PROC / "self/mountinfo").read_text())]


def _mounts(text: str) -> Iterator[Mount]:
    """proc_pid_mountinfo(5)."""
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        _, _, number, _, point, options, *_ = before.split(" ")
        kind, source, inner = (*after.split(" "), "", "")[:3]
        yield Mount(point, kind, source, _disk(number), frozenset(options.split(",")), frozenset(inner.split(",")))


def _disk(number: str) -> str:
    link = SYS / "dev/block" / number
    return link.resolve().name if link.exists() else number


def read_only(known: Known) -> Wrong:
    """Mounted to be written to, and yet read-only: that was the kernel. Whoever wants it so has it in both places."""
    wrong: dict[str, Finding | None] = {}
    for one in mounts():
        if one.kind in DISKS and "rw" in one.options and one.inner & GIVEN_UP:
            message = f"the file system on {one.disk}, at {one.point}, became read-only after errors"
            said = Finding("FilesystemIsReadOnly", one.disk, message, "ReadonlyFilesystem")
            wrong.setdefault(one.disk, None if one.disk in known else said)
    return wrong


def shut_down(known: Known) -> Wrong:
    """XFS has no option that says so. One that is mounted again says so in the log."""
    return {one.disk: None for one in mounts() if one.disk in known and one.kind == "xfs"}


def silent_servers(known: Known) -> Wrong:
    """A server that nothing is mounted from any more is nobody's trouble."""
    mounted = {one.source.partition(":/")[0] for one in mounts() if one.kind in SHARES}
    return {server: None for server in known if server in mounted}


def links_down(known: Known) -> Wrong:
    return {card: None for card in known if _down(SYS / "class/net" / card)}


def _down(card: Path) -> bool:
    """A card that has gone is no link that is down."""
    try:
        return (card / "carrier").read_text().strip() != "1"
    except OSError:
        # Of a card that is switched off it can't be read.
        return card.exists()


def hung(known: Known) -> Wrong:
    """Processes by their numbers: those that still wait in the kernel."""
    return {number: None for number in known if _waits(PROC / number / "stat")}


def _waits(stat: Path) -> bool:
    try:
        return stat.read_text().rpartition(") ")[2].startswith("D")
    except OSError:
        return False


def services(known: Known) -> Wrong:
    """Shares that a host serves, and laptops' way in: by their names."""
    wrong: dict[str, Finding | None] = {}
    for file in sorted(HEALTH.glob("*.wrong")):
        text = "; ".join(file.read_text().splitlines())
        if text and time.time() - file.stat().st_mtime < FRESH_SECONDS:
            said = Finding("ServiceIsUnwell", file.stem, f"{file.stem}: {text}", "ServiceUnwell")
            wrong[file.stem] = None if file.stem in known else said
    return wrong


class Timex(ctypes.Structure):
    """adjtimex(2), as far as it is read here, and room for the rest."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        *((name, ctypes.c_long) for name in ("offset", "freq", "maxerror", "esterror")),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_long * 30),
    )


def kernel_clock() -> tuple[bool, float]:
    """Whether it follows another clock, and by how many seconds it may be wrong. Sets nothing."""
    told = Timex()
    state = ctypes.CDLL(None).adjtimex(ctypes.byref(told))
    return state != TIME_ERROR, told.maxerror / 1e6


class Clock:
    """The kernel itself forgets that its clock was set once it may be wrong by 16 seconds."""

    def __init__(self, read: Callable[[], tuple[bool, float]] = kernel_clock) -> None:
        self.read, self.since = read, 0.0

    def look(self, known: Known) -> Wrong:
        right, error = self.read()
        now = time.monotonic()
        self.since = 0.0 if right else self.since or now
        if right or now - self.since < CLOCK_PATIENCE_SECONDS:
            return dict.fromkeys(() if right else known)
        message = f"the clock follows no other one since {now - self.since:.0f} s: it may be {error:.0f} s wrong"
        return {"clock": None if known else Finding("ClockNotSynchronized", "clock", message, "NTPProblem")}
