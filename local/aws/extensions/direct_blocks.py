"""Snapshots that are written block by block, without a volume: the EBS direct APIs, as strict as EBS is.

EBS direct APIs reference: StartSnapshot, PutSnapshotBlock, CompleteSnapshot, ListSnapshotBlocks, GetSnapshotBlock; EBS
user guide: "Idempotency for StartSnapshot API", "Use checksums with the EBS direct APIs", and of its questions "Can a
snapshot be accessed using the EBS direct APIs if it has a pending status? No". moto keeps whatever it is given in
memory, and calls a snapshot completed from its first moment.
"""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult
from moto.ebs.responses import EBSResponse
from moto.ec2.models import EC2Backend

from .. import blocks, clock
from .patching import override

MOST_GIB, MOST_TAGS = 65536, 50
TIMEOUT_MINUTES = 60
LEAST_A_PAGE, MOST_A_PAGE = 100, 10_000
PENDING, COMPLETED, ERROR = "pending", "completed", "error"
BLOCKS_PER_GIB = (1 << 30) // blocks.BLOCK_BYTES


class Direct(NamedTuple):
    """What was asked for with a token: the same again gives the same snapshot."""

    snapshot: str
    asked: tuple[Any, ...]


class DirectError(ServiceException):
    """What EBS says; a class of our own, as moto takes one of its own for its package's."""

    Reason: str


def install() -> None:
    """Puts our snapshots in the place of moto's."""
    _start()
    _put()
    _complete()
    _read()
    _forget()


def contents(snapshot: Any) -> dict[int, str]:
    """Index → name of each block that is not zero; empty for what moto has made of nothing."""
    found: dict[int, str] = vars(snapshot).setdefault("block_names", {})
    return found


def write_disk(backend: EC2Backend, snapshot_id: str, file: Path) -> None:
    """A completed snapshot as a raw disk, for machines that start from its image. Raises KeyError and OSError."""
    snapshot = backend.snapshots[snapshot_id]
    if snapshot.status != COMPLETED:
        raise KeyError(f"{snapshot_id} is {snapshot.status}")
    blocks.write_disk(contents(snapshot), snapshot.volume_size, file)


def made(
    backend: Any, size_gib: int, description: str, tags: Mapping[str, str], *, encrypted: bool, key: str | None
) -> Any:
    """A snapshot without a volume, still pending and empty."""
    # moto's snapshots want one.
    volume = backend.create_volume(size_gib, f"{backend.region_name}a", encrypted=encrypted, kms_key_id=key)
    snapshot = backend.create_snapshot(volume.id, description)
    backend.delete_volume(volume.id)
    # EBS user guide: a snapshot that is of no volume shows an id that means nothing.
    snapshot.status, snapshot.kms_key_id = PENDING, volume.kms_key_id
    snapshot.add_tags(dict(tags))
    return snapshot


def _error(reason: str, message: str, code: str = "ValidationException") -> DirectError:
    error = DirectError(code, message)
    if code != "ConflictException":
        error.Reason = reason
    return error


def _found(self: Any, snapshot_id: str, status: str) -> Any:
    """The snapshot, if it is in this state."""
    snapshot = self.ec2_backend.snapshots.get(snapshot_id)
    if snapshot is None:
        raise _error("SNAPSHOT_NOT_FOUND", f"The snapshot '{snapshot_id}' does not exist.", "ResourceNotFoundException")
    expire(snapshot)
    if snapshot.status != status:
        message = f"The snapshot '{snapshot_id}' is in the {snapshot.status} state, and the call needs {status}."
        raise _error("INVALID_SNAPSHOT_ID", message)
    return snapshot


def expire(snapshot: Any) -> None:
    """StartSnapshot, Timeout: one that nobody goes on writing is cancelled."""
    until = vars(snapshot).get("write_until")
    if until is not None and snapshot.status == PENDING and clock.now() > until:
        snapshot.status = ERROR


def _start() -> None:
    @override(EBSResponse, "start_snapshot")
    def start_snapshot(self: Any, original: Any) -> ActionResult:  # noqa: ARG001
        size, key = self._get_param("VolumeSize"), self._get_param("KmsKeyArn")
        tags = {tag["Key"]: tag.get("Value", "") for tag in self._get_param("Tags") or []}
        encrypted, minutes = self._get_param("Encrypted"), self._get_param("Timeout") or TIMEOUT_MINUTES
        description = self._get_param("Description") or ""
        if self._get_param("ParentSnapshotId"):
            raise _error("INVALID_PARAMETER_VALUE", "The local cloud makes no snapshot of a parent's changes.")
        if not 1 <= int(size) <= MOST_GIB:
            raise _error("INVALID_VOLUME_SIZE", f"The volume size {size} is not between 1 and {MOST_GIB} GiB.")
        if len(tags) > MOST_TAGS or any(name.lower().startswith("aws:") for name in tags):
            raise _error("INVALID_TAG", "The tags are too many, or one begins with aws:.")
        if key and not encrypted:
            raise _error("INVALID_PARAMETER_VALUE", "KmsKeyArn needs Encrypted.")
        backend, token = self.ebs_backend, self._get_param("ClientToken")
        parameters = (size, key, encrypted, description, tuple(sorted(tags.items())))
        tokens: dict[str, Direct] = vars(backend).setdefault("tokens", {})
        if token in tokens:
            if tokens[token].asked != parameters:
                message = f"The client token '{token}' was used before, for another request."
                raise _error("", message, "ConflictException")
            return ActionResult(vars(backend)["answers"][token])
        snapshot = made(backend.ec2_backend, int(size), description, tags, encrypted=bool(encrypted), key=key)
        snapshot.timeout_seconds = int(minutes) * 60
        snapshot.write_until = clock.now() + snapshot.timeout_seconds
        answer = {
            "SnapshotId": snapshot.id,
            "OwnerId": snapshot.owner_id,
            "Status": PENDING,
            "StartTime": snapshot.start_time,
            "VolumeSize": int(size),
            "BlockSize": blocks.BLOCK_BYTES,
            "Tags": [{"Key": name, "Value": value} for name, value in tags.items()],
            "Description": description,
            "KmsKeyArn": snapshot.kms_key_id,
        }
        if token:
            tokens[token] = Direct(snapshot.id, parameters)
            vars(backend).setdefault("answers", {})[token] = answer
        return ActionResult(answer)


def _put() -> None:
    @override(EBSResponse, "put_snapshot_block")
    def put_snapshot_block(self: Any, original: Any) -> ActionResult:  # noqa: ARG001
        index, data = int(self._get_param("BlockIndex")), self._get_param("BlockData")
        checksum, algorithm = self._get_param("Checksum"), self._get_param("ChecksumAlgorithm")
        snapshot = _found(self.ebs_backend, self._get_param("SnapshotId"), PENDING)
        data = data if isinstance(data, bytes) else str(data or "").encode("latin-1")
        if len(data) != blocks.BLOCK_BYTES or int(self._get_param("DataLength") or 0) != blocks.BLOCK_BYTES:
            raise _error("INVALID_BLOCK", f"A block has {blocks.BLOCK_BYTES} bytes.")
        if not 0 <= index < snapshot.volume_size * BLOCKS_PER_GIB:
            raise _error("INVALID_BLOCK", f"The block {index} is outside of the volume.")
        found = base64.b64encode(hashlib.sha256(data).digest()).decode()
        if algorithm != "SHA256" or checksum != found:
            raise _error("INVALID_PARAMETER_VALUE", "The checksum is not the SHA256 of the block's data.")
        contents(snapshot)[index] = blocks.put(data)
        snapshot.write_until = clock.now() + snapshot.timeout_seconds
        return ActionResult({"Checksum": found, "ChecksumAlgorithm": "SHA256"})


def _complete() -> None:
    @override(EBSResponse, "complete_snapshot")
    def complete_snapshot(self: Any, original: Any) -> ActionResult:  # noqa: ARG001
        snapshot = _found(self.ebs_backend, self._get_param("SnapshotId"), PENDING)
        written, checksum = contents(snapshot), self._get_param("Checksum")
        if int(self._get_param("ChangedBlocksCount")) != len(written):
            message = f"The changed blocks count does not match the {len(written)} blocks that were written."
            raise _error("INVALID_PARAMETER_VALUE", message)
        algorithms = self._get_param("ChecksumAlgorithm"), self._get_param("ChecksumAggregationMethod")
        if checksum and (algorithms != ("SHA256", "LINEAR") or checksum != linear(written)):
            raise _error("INVALID_PARAMETER_VALUE", "The checksum is not the LINEAR SHA256 of the blocks' checksums.")
        snapshot.status, snapshot.write_until = COMPLETED, None
        return ActionResult({"Status": COMPLETED})


def linear(written: Mapping[int, str]) -> str:
    """The checksum over all blocks' checksums, in the order of their indexes."""
    whole = hashlib.sha256(b"".join(binascii.unhexlify(written[index]) for index in sorted(written)))
    return base64.b64encode(whole.digest()).decode()


def _read() -> None:
    @override(EBSResponse, "list_snapshot_blocks")
    def list_snapshot_blocks(self: Any, original: Any) -> ActionResult:  # noqa: ARG001
        snapshot = _found(self.ebs_backend, self._get_param("SnapshotId"), COMPLETED)
        token, most = self._get_param("NextToken"), int(self._get_param("MaxResults") or MOST_A_PAGE)
        start = int(token or self._get_param("StartingBlockIndex") or 0)
        written = contents(snapshot)
        listed = [index for index in sorted(written) if index >= start]
        page, left = listed[: max(most, LEAST_A_PAGE)], listed[max(most, LEAST_A_PAGE) :]
        return ActionResult(
            {
                "Blocks": [{"BlockIndex": index, "BlockToken": written[index]} for index in page],
                "VolumeSize": snapshot.volume_size,
                "BlockSize": blocks.BLOCK_BYTES,
                **({"NextToken": str(left[0])} if left else {}),
            }
        )

    @override(EBSResponse, "get_snapshot_block")
    def get_snapshot_block(self: Any, original: Any) -> ActionResult:  # noqa: ARG001
        snapshot = _found(self.ebs_backend, self._get_param("SnapshotId"), COMPLETED)
        name = contents(snapshot).get(int(self._get_param("BlockIndex")))
        if name is None:
            raise _error("DEPENDENCY_RESOURCE_NOT_FOUND", "There is no such block.", "ResourceNotFoundException")
        if self._get_param("BlockToken") != name:
            raise _error("INVALID_BLOCK_TOKEN", "The block token is not of this block.")
        return ActionResult(
            {
                "DataLength": blocks.BLOCK_BYTES,
                "BlockData": blocks.get(name),
                "Checksum": base64.b64encode(binascii.unhexlify(name)).decode(),
                "ChecksumAlgorithm": "SHA256",
            }
        )

    @override(EBSResponse, "list_changed_blocks")
    def list_changed_blocks(self: Any, original: Any) -> ActionResult:
        raise NotImplementedError  # `calls` says so

    @override(EC2Backend, "describe_snapshots")
    def describe_snapshots(self: Any, original: Any, *args: Any, **given: Any) -> Any:
        for snapshot in list(self.snapshots.values()):
            expire(snapshot)
        return original(*args, **given)


def _forget() -> None:
    @override(EC2Backend, "delete_snapshot")
    def delete_snapshot(_: Any, original: Any, snapshot_id: str) -> Any:
        gone = original(snapshot_id)
        if names := contents(gone).values():
            blocks.forget(names, _used())
        return gone


def _used() -> set[str]:
    from moto.ec2.models import ec2_backends

    backends = [backend for regions in list(ec2_backends.values()) for backend in list(regions.values())]
    return {name for backend in backends for one in backend.snapshots.values() for name in contents(one).values()}
