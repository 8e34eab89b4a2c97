"""Lays what this machine's kernel and units say where the collector of logs reads it: docs/decisions/0071-logs.md.

It follows systemd's journal from where it stood. An entry becomes a line of JSON: `time`, `unit`, and as `msg` what a
container runtime would write, with the unit for the stream. `journal.log` is renamed when it is full, and begun anew.
"""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from machine import say, write

FIELDS = ("MESSAGE", "UNIT", "_PID", "_SYSTEMD_UNIT", "_TRANSPORT")
# Without --all a long message is null.
JOURNALCTL = ("journalctl", "--output=json", f"--output-fields={','.join(FIELDS)}", "--all", "--no-tail", "--follow")
# What no unit has said, by how it came.
TRANSPORTS = {"kernel": "kernel", "audit": "audit", "driver": "systemd-journald"}
MOST_BYTES, LONGEST, CHUNK = 8 << 20, 64 << 10, 1 << 18
KEEP_SECONDS = 5.0


class Kept:
    """The file and its place in the journal. After a break some entries come twice, each alike."""

    def __init__(self, folder: Path, most: int = MOST_BYTES) -> None:
        self.path, self.place, self.most = folder / "journal.log", folder / "cursor", most
        self.cursor = self.place.read_text() if self.place.exists() else ""
        self.saved, self.at = self.cursor, time.monotonic()
        self.begin()

    def begin(self) -> None:
        self.file = self.path.open("ab", buffering=0)
        # The last line may have no end, of a machine that lost its power. An empty one is no line.
        if self.file.tell():
            self.file.write(b"\n")

    def take(self, entries: Iterable[bytes]) -> None:
        """Of JSON, as journalctl prints them."""
        found = [json.loads(entry) for entry in entries]
        if not found:
            return
        text = "".join(made for one in found if (made := line(one))).encode()
        if self.file.tell() and self.file.tell() + len(text) > self.most:
            self.file.close()
            self.path.replace(f"{self.path}.1")
            self.begin()
        self.file.write(text)
        self.cursor = found[-1]["__CURSOR"]

    def keep(self) -> None:
        """What is before the place is on the disk by then."""
        self.at = time.monotonic()
        if self.cursor != self.saved:
            os.fsync(self.file.fileno())
            write(self.place, self.cursor)
            self.saved = self.cursor


def line(entry: dict[str, Any]) -> str:
    """Empty for an entry without words."""
    words = text(entry.get("MESSAGE"))[:LONGEST]
    if not words:
        return ""
    seconds, micros = divmod(int(entry["__REALTIME_TIMESTAMP"]), 10**6)
    at, unit = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{micros:06d}Z", unit_of(entry)
    return json.dumps({"time": at, "unit": unit, "msg": f"{at} {unit} F {words}"}) + "\n"


def unit_of(entry: dict[str, Any]) -> str:
    """Whom it is about, without `.service`. Anybody may write UNIT, and systemd alone is believed."""
    about = entry.get("UNIT") if entry.get("_PID") == "1" else None
    named = text(about) or text(entry.get("_SYSTEMD_UNIT")) or TRANSPORTS.get(text(entry.get("_TRANSPORT")), "other")
    return named.removesuffix(".service")


def text(value: Any) -> str:
    """A field: words, bytes that are none, or the last of several."""
    if isinstance(value, list):
        return bytes(value).decode(errors="replace") if isinstance(value[0], int) else text(value[-1])
    return value or ""


def follow(journal: int, kept: Kept) -> None:
    """To its end, of what it is read from."""
    rest = b""
    while True:
        chunk = None
        if select.select([journal], [], [], KEEP_SECONDS)[0]:
            chunk = os.read(journal, CHUNK)
            *entries, rest = (rest + chunk).split(b"\n")
            kept.take(entries)
        if not chunk or time.monotonic() - kept.at > KEEP_SECONDS:
            kept.keep()
        if chunk == b"":
            return


def main(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    kept = Kept(folder)
    # At first this start of the machine is enough: some have been there for years.
    begin = f"--after-cursor={kept.cursor}" if kept.cursor else "--boot"
    with subprocess.Popen([*JOURNALCTL, begin], stdout=subprocess.PIPE) as journal:
        assert journal.stdout
        follow(journal.stdout.fileno(), kept)
    say(f"journalctl ended with {journal.returncode}")
    return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
