"""A raw disk to a cloud, block by block, several at a time, and only those that are not zero.

Neither cloud says which blocks of an upload have arrived, so a journal beside us does; without it all is put once more.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from .store import Tell

BLOCK_BYTES = 512 * 1024
ZEROS = bytes(BLOCK_BYTES)
# A put takes some 50 ms, and EBS takes 1,000 a second from an account.
WORKERS = 16
TELL_PERCENT = 10


def used(raw: Path) -> Iterator[tuple[int, bytes]]:
    """Index and contents of each block with anything in it, in order; holes of a sparse file are not read."""
    with raw.open("rb") as disk:
        size, at = os.fstat(disk.fileno()).st_size, 0
        while at < size:
            try:
                at = os.lseek(disk.fileno(), at, os.SEEK_DATA)
            except OSError:  # only a hole is left
                return
            index = at // BLOCK_BYTES
            data = os.pread(disk.fileno(), BLOCK_BYTES, index * BLOCK_BYTES).ljust(BLOCK_BYTES, b"\0")
            if data != ZEROS:
                yield index, data
            at = (index + 1) * BLOCK_BYTES


class Journal:
    """Blocks that have arrived, index and digest a line: a line is written after EBS has said so."""

    def __init__(self, file: Path) -> None:
        self.file, self.there = file, dict[int, str]()
        if file.exists():
            lines = [line.split() for line in file.read_text().splitlines()]
            # A kill may have cut the last one.
            self.there = {int(line[0]): line[1] for line in lines if len(line) == 2 and len(line[1]) == 64}
        file.parent.mkdir(parents=True, exist_ok=True)
        self.stream = file.open("a")
        self.stream.write("\n")

    def add(self, index: int, digest: str) -> None:
        self.stream.write(f"{index} {digest}\n")
        self.stream.flush()

    def end(self) -> None:
        self.stream.close()
        self.file.unlink()


# Index, contents and digest of a block; raises what the cloud says.
Put = Callable[[int, bytes, bytes], None]


def sent(one: Put, raw: Path, journal: Journal, tell: Tell) -> tuple[int, dict[int, bytes]]:
    """Puts the blocks that a journal has not; how many were put, and all blocks' digests by index.

    Raises what `one` does, and OSError.
    """
    size, reported, put = raw.stat().st_size, 0, 0
    digests: dict[int, bytes] = {}
    with ThreadPoolExecutor(WORKERS) as pool:
        waiting: dict[Future[None], int] = {}
        try:
            for index, data in used(raw):
                digests[index] = hashlib.sha256(data).digest()
                if journal.there.get(index) == digests[index].hex():
                    continue
                waiting[pool.submit(one, index, data, digests[index])] = index
                put += 1
                if len(waiting) >= 2 * WORKERS:
                    _arrived(waiting, journal, digests)
                if (percent := 100 * index * BLOCK_BYTES // size) >= reported + TELL_PERCENT:
                    reported = percent - percent % TELL_PERCENT
                    tell(f"{reported}% of the disk")
            while waiting:
                _arrived(waiting, journal, digests)
        except BaseException:
            for begun in waiting:
                begun.cancel()
            wait(waiting)
            _record(waiting, journal, digests)
            raise
    return put, digests


def _arrived(waiting: dict[Future[None], int], journal: Journal, digests: dict[int, bytes]) -> None:
    """Waits for one at least. Raises what a put has raised, once all that arrived is written down."""
    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
    _record({one: waiting.pop(one) for one in done}, journal, digests)
    for one in done:
        one.result()


def _record(done: dict[Future[None], int], journal: Journal, digests: dict[int, bytes]) -> None:
    for one, index in done.items():
        if not one.cancelled() and one.exception() is None:
            journal.add(index, digests[index].hex())
