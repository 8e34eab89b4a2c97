"""A raw disk into an EBS snapshot by EBS' direct API: no machine, and only the blocks that are not zero.

EBS lets nobody list a pending snapshot's blocks ("Frequently asked questions for EBS direct APIs"). Completing it tells
EBS how many blocks there are and a checksum over all of theirs, so that a snapshot that lacks one is never completed.
"""

import base64
import hashlib
import time
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from ...errors import ImageError
from ..blocks import BLOCK_BYTES, Journal, sent
from ..store import Tell

# A snapshot that was just started is not known everywhere at once.
ATTEMPTS, PAUSE_SECONDS = 8, 2.0


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
