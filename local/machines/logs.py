"""Units' output: one file each in /var/log/units, rotated; and what init itself has to say."""

import contextlib
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from .loop import Loop

FOLDER = Path("/var/log/units")
LONGEST = 10_000_000
CHUNK = 1 << 16


class Log:
    """One unit's log. Processes write into a pipe, since a file that others hold open cannot be rotated."""

    def __init__(self, loop: Loop, path: Path, longest: int = LONGEST) -> None:
        self.path, self.longest = path, longest
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        self.file = path.open("ab", buffering=0)
        self.size = path.stat().st_size
        self.half_line = False
        loop.watch(self.read_end, self.drain)

    def drain(self) -> None:
        """Takes all that is in the pipe now."""
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self.read_end, CHUNK):
                self.write(chunk)
                if len(chunk) < CHUNK:
                    break

    def write(self, chunk: bytes) -> None:
        if self.size + len(chunk) > self.longest:
            self.rotate()
        # A full disk is the unit's trouble, not init's end.
        with contextlib.suppress(OSError):
            self.file.write(chunk)
        self.size += len(chunk)
        self.half_line = not chunk.endswith(b"\n")

    def rotate(self) -> None:
        self.file.close()
        self.path.replace(f"{self.path}.1")
        self.file = self.path.open("ab", buffering=0)
        self.size = 0

    def say(self, text: str) -> None:
        """A line of init's own."""
        self.drain()
        # On a line of its own, even if the unit has not ended its last one.
        self.write(b"\n" * self.half_line + f"{stamp()} init: {text}\n".encode())

    def tail(self, lines: int) -> list[str]:
        self.drain()
        # Somebody on the machine may have taken the file away.
        with contextlib.suppress(FileNotFoundError), self.path.open("rb") as file:
            file.seek(max(0, self.path.stat().st_size - CHUNK))
            return file.read().decode(errors="replace").splitlines()[-lines:]
        return []


class Logs:
    """All logs of a machine."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.open: dict[str, Log] = {}
        self.said_once: set[str] = set()
        FOLDER.mkdir(parents=True, exist_ok=True)

    def of(self, unit: str) -> Log:
        if unit not in self.open:
            self.open[unit] = Log(self.loop, FOLDER / f"{unit}.log")
        return self.open[unit]

    def say(self, unit: str, text: str) -> None:
        """Into the unit's log and onto the machine's console."""
        self.of(unit).say(text)
        console(f"{unit}: {text}")

    def say_once(self, unit: str, text: str) -> None:
        if text not in self.said_once:
            self.said_once.add(text)
            self.say(unit, text)


def stamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def console(text: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{stamp()} init: {text}\n")
        sys.stderr.flush()
