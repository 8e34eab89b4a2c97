"""A raw disk into an EBS snapshot by EBS' direct API: no machine, and only the blocks that are not zero.

EBS lets nobody list a pending snapshot's blocks ("Frequently asked questions for EBS direct APIs"), so a journal beside
us says what has arrived; without it all is put once more. Completing it tells EBS how many blocks there are and a
checksum over all of theirs, so that a snapshot that lacks one is never completed.
"""

import base64
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from ...errors import ImageError
from ..store import Tell

BLOCK_BYTES = 512 * 1024
ZEROS = bytes(BLOCK_BYTES)
# A put takes some 50 ms, and EBS takes 1,000 a second from an account.
WORKERS = 16
# A snapshot that was just started is not known everywhere at once.
ATTEMPTS, PAUSE_SECONDS = 8, 2.0
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


def upload(ebs: Any, snapshot: str, raw: Path, journal: Journal, tell: Tell) -> int:
    """Puts what is missing and completes the snapshot; how many blocks were put. Raises ClientError and OSError."""
    put, digests = sent(lambda index, data, digest: _put(ebs, snapshot, index, data, digest), raw, journal, tell)
    try:
        _complete(ebs, snapshot, digests)
    except ClientError as error:
        if error.response["Error"]["Code"] == "ValidationException":
            # Not all has arrived that the journal says: the next run puts everything.
            journal.end()
        raise
    journal.end()
    return put


def sent(one: Put, raw: Path, journal: Journal, tell: Tell) -> tuple[int, dict[int, bytes]]:
    """Puts the blocks that a journal has not; how many were put, and all blocks' digests by index.

    Raises what `one` does, and OSError.
    """
    size, told, put = raw.stat().st_size, 0, 0
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
                if (percent := 100 * index * BLOCK_BYTES // size) >= told + TELL_PERCENT:
                    told = percent - percent % TELL_PERCENT
                    tell(f"{told}% of the disk")
            while waiting:
                _arrived(waiting, journal, digests)
        except BaseException:
            for begun in waiting:
                begun.cancel()
            wait(waiting)
            _record(waiting, journal, digests)
            raise
    return put, digests


def _put(ebs: Any, snapshot: str, index: int, data: bytes, digest: bytes) -> None:
    checksum = base64.b64encode(digest).decode()
    for attempt in range(1, ATTEMPTS + 1):
        try:
            ebs.put_snapshot_block(
                SnapshotId=snapshot,
                BlockIndex=index,
                BlockData=data,
                DataLength=BLOCK_BYTES,
                Checksum=checksum,
                ChecksumAlgorithm="SHA256",
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ResourceNotFoundException" or attempt == ATTEMPTS:
                raise
            time.sleep(PAUSE_SECONDS * attempt)
        else:
            return


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


def _complete(ebs: Any, snapshot: str, digests: dict[int, bytes]) -> None:
    if not digests:
        raise ImageError("The disk is empty: bake the image again. Nothing was published")
    whole = hashlib.sha256(b"".join(digests[index] for index in sorted(digests))).digest()
    ebs.complete_snapshot(
        SnapshotId=snapshot,
        ChangedBlocksCount=len(digests),
        Checksum=base64.b64encode(whole).decode(),
        ChecksumAlgorithm="SHA256",
        ChecksumAggregationMethod="LINEAR",
    )
