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

HEAD = Struct("<III")  # the length of what follows, its CRC, and one of both: a wrong length is no end


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
        left = memoryview(_head(data) + data)
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


def _head(data: bytes) -> bytes:
    length, check = len(data), zlib.crc32(data)
    return HEAD.pack(length, check, zlib.crc32(HEAD.pack(length, check, 0)[:-4]))


def records(file: Path) -> Iterator[Any]:
    """All of a journal; cuts off half a record at its end. Raises DamagedError."""
    size, at = file.stat().st_size, 0
    with file.open("rb") as journal:
        while at < size:
            head = journal.read(HEAD.size)
            whole = len(head) == HEAD.size
            if whole and zlib.crc32(head[:-4]) != HEAD.unpack(head)[-1]:
                raise DamagedError(f"{file} is damaged at byte {at}")
            length = HEAD.unpack(head)[0] if whole else 0
            data = journal.read(length)
            if not whole or len(data) < length:
                os.truncate(file, at)
                return
            if _head(data) != head:
                raise DamagedError(f"{file} is damaged at byte {at}")
            yield pickle.loads(data)  # noqa: S301 - this user's own file, 0600
            at += HEAD.size + length
