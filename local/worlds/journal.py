"""A file of records, each whole or not there: what a killed process wrote last may be half a record, which is dropped.

A record is written by one call of write(2): what the kernel has taken outlives the process. Only `flush` has it outlive
a power cut as well.
"""

import os
import pickle
import zlib
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import Any

HEAD = Struct("<II")  # the length of what follows, and its CRC


class DamagedError(Exception):
    """A journal cannot be read. The text says which one, and where."""


class Journal:
    """One that is written."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.size = os.fstat(self.descriptor).st_size

    def add(self, record: Any) -> None:
        """Raises OSError; then it is not in there."""
        data = pickle.dumps(record, protocol=5)
        left = memoryview(HEAD.pack(len(data), zlib.crc32(data)) + data)
        try:
            while left:
                left = left[os.write(self.descriptor, left) :]
        except OSError:
            os.ftruncate(self.descriptor, self.size)
            raise
        self.size += HEAD.size + len(data)

    def flush(self) -> None:
        os.fsync(self.descriptor)

    def close(self) -> None:
        os.close(self.descriptor)


def records(file: Path) -> Iterator[Any]:
    """All of a journal; cuts off half a record at its end. Raises DamagedError."""
    size, at = file.stat().st_size, 0
    with file.open("rb") as journal:
        while at < size:
            head = journal.read(HEAD.size)
            length, check = HEAD.unpack(head) if len(head) == HEAD.size else (size, 0)
            data = journal.read(length) if at + HEAD.size + length <= size else b""
            if not data:
                os.truncate(file, at)
                return
            if zlib.crc32(data) != check:
                raise DamagedError(f"{file} is damaged at byte {at}")
            yield pickle.loads(data)  # noqa: S301 - this user's own file, 0600
            at += HEAD.size + length
