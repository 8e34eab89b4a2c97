"""Brings the API server's audit log to the fleet bucket as it grows, so that nobody on this machine can unwrite it.

Runs for as long as the machine does and longer than the API server: at the end it brings the tail too. A part begins
where the last one ended and is named after its first entry, so that one sent twice is the same object.
"""

import gzip
import hashlib
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

from cloud import Cloud, cloud
from machine import say, settings, write

STATE = Path("/var/lib/landbridge/audit.json")
PERIOD_SECONDS = 60.0
MOST_BYTES = 64 << 20  # of a part, before it is packed


class Shipper:
    """Follows the log through its rotations: a file is known by its first entry, which no other one has."""

    def __init__(self, home: Cloud, bucket: str, prefix: str, log: Path) -> None:
        self.home, self.bucket, self.prefix, self.log = home, bucket, prefix, log
        self.sent: dict[str, int] = json.loads(STATE.read_text()) if STATE.exists() else {}

    def files(self) -> list[Path]:
        """Oldest first: what was rotated away bears its time in its name, the one that grows has none."""
        rotated = sorted(self.log.parent.glob(f"{self.log.stem}-*{self.log.suffix}"))
        return [*rotated, self.log] if self.log.exists() else rotated

    def ship(self, *, tail: bool = False) -> None:
        """Sends what is new; lines that are not whole yet wait, unless it is the tail."""
        names = set()
        for path in self.files():
            with path.open("rb") as file:
                # Rotation renames: from here on it is about the file that is open, whatever its name is by now.
                closed = path != self.log
                name = first_entry(file)
                names.add(name)
                while self.part(file, name, tail=tail or closed):
                    pass
                if closed and self.sent.get(name, 0) >= os.fstat(file.fileno()).st_size:
                    path.unlink()
                    names.discard(name)
        if set(self.sent) - names:
            self.sent = {name: at for name, at in self.sent.items() if name in names}
            self.keep()

    def part(self, file: BinaryIO, name: str, *, tail: bool) -> bool:
        begin = self.sent.get(name, 0)
        file.seek(begin)
        data = file.read(MOST_BYTES)
        # A part that is full ends with a line too, so that each can be read by itself.
        if not tail or len(data) == MOST_BYTES:
            data = data[: data.rfind(b"\n") + 1] or data[: MOST_BYTES if len(data) == MOST_BYTES else 0]
        if not data:
            return False
        packed = STATE.with_name("audit-part.gz")
        packed.write_bytes(gzip.compress(data, 6, mtime=0))
        key = f"{self.prefix}/{place(data)}-{begin:012}.jsonl.gz"
        self.home.upload(self.bucket, key, packed, {"lines": str(data.count(b"\n")), "bytes": str(len(data))})
        self.sent[name] = begin + len(data)
        self.keep()
        return True

    def keep(self) -> None:
        write(STATE, json.dumps(self.sent))


def first_entry(file: BinaryIO) -> str:
    return hashlib.sha256(file.readline()).hexdigest()


def place(data: bytes) -> str:
    """A day's folder and the time of the first entry."""
    try:
        first = json.loads(data.partition(b"\n")[0])
        stamp = str(first.get("requestReceivedTimestamp") or first["stageTimestamp"])
    except (ValueError, KeyError, AttributeError):
        return "unreadable/part"
    day, _, moment = stamp.partition("T")
    return f"{day}/{moment.replace(':', '')}"


def main() -> None:
    told: Any = settings("audit")
    STATE.parent.mkdir(parents=True, exist_ok=True)
    shipper = Shipper(cloud(told["region"]), told["bucket"], told["prefix"], Path(told["log"]))
    ending = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: ending.set())
    while True:
        last = ending.wait(PERIOD_SECONDS)
        try:
            shipper.ship(tail=last)
        except Exception as problem:  # the log stays on the disk, and the next round begins with it
            left = sum(path.stat().st_size for path in shipper.files())
            say(f"ERROR: the audit log cannot leave this machine, {left} bytes are kept here: {problem}")
            if last:
                sys.exit(1)
        if last:
            return


if __name__ == "__main__":
    os.umask(0o077)
    main()
