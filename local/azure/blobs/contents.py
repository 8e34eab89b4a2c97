"""What a container holds: blobs, with what they were before, as the account's versioning and soft delete say.

"Blob versioning", "Soft delete for blobs": with versioning, what is replaced or deleted becomes a version of before;
without it, and with soft delete, it stays for some days as deleted.
"""

import hashlib
import os
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ..errors import ArmError
from ..store import Resource

IN_MEMORY_BYTES = 1 << 20
DAY_SECONDS = 86_400
PAGE_BYTES = 512
PIECE_BYTES = 512 * 1024


class Content:
    """Bytes, in memory or in a file without a name. Those of a block blob never change."""

    def __init__(self, data: bytes = b"", size: int | None = None) -> None:
        self._file: Any = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115 - lives with the blob
        self._file.write(data)
        self.size = len(data)
        if size is not None:
            self._file.rollover()
            self._file.truncate(size)
            self.size = size

    def read(self, start: int = 0, length: int | None = None) -> bytes:
        self._file.seek(start)
        found: bytes = self._file.read(self.size - start if length is None else min(length, self.size - start))
        return found

    def write(self, start: int, data: bytes) -> None:
        """Of page blobs alone."""
        self._file.seek(start)
        self._file.write(data)

    def __getstate__(self) -> dict[str, Any]:
        """Its size, and what is written in it, by where that is."""
        return {"size": self.size, "pieces": {at: self.read(at, PIECE_BYTES) for at in self._written()}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(size=state["size"] if state["size"] > IN_MEMORY_BYTES else None)  # type: ignore[misc]
        self.size = state["size"]
        for at, data in state["pieces"].items():
            self.write(at, data)

    def _written(self) -> Iterator[int]:
        """Where pieces begin in which there is something; holes of a file are skipped."""
        at = 0
        while at < self.size:
            if self.size > IN_MEMORY_BYTES:
                self._file.rollover()
                self._file.flush()
                try:
                    data = os.lseek(self._file.fileno(), at, os.SEEK_DATA)
                except OSError:  # ENXIO: there is none from here on
                    return
                at = data // PIECE_BYTES * PIECE_BYTES
            yield at
            at += PIECE_BYTES

    def add(self, other: "Content") -> None:
        self.write(self.size, other.read())
        self.size += other.size


@dataclass(eq=False)
class Blob:
    """One state of a blob. `snapshot` or `version` name it where it is none of the present."""

    name: str
    content: Content
    kind: str = "BlockBlob"
    headers: dict[str, str] = field(default_factory=dict)  # Content-Type and the like
    metadata: dict[str, str] = field(default_factory=dict)
    version: str | None = None
    snapshot: str | None = None
    deleted: float | None = None  # seconds since 1970
    blocks: list[tuple[str, Content]] = field(default_factory=list)
    pages: set[int] = field(default_factory=set)  # numbers of written pages
    copied: dict[str, str] = field(default_factory=dict)
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    modified: datetime = field(default_factory=lambda: datetime.now(UTC))
    etag: str = field(default_factory=lambda: f'"0x{uuid.uuid4().hex[:15].upper()}"')

    def touched(self) -> None:
        self.modified, self.etag = datetime.now(UTC), f'"0x{uuid.uuid4().hex[:15].upper()}"'


@dataclass
class Entry:
    """All of a name. `past` are versions and snapshots, and what is deleted; `waiting` blocks not in any list yet."""

    current: Blob | None = None
    past: list[Blob] = field(default_factory=list)
    waiting: dict[str, Content] = field(default_factory=dict)

    def every(self) -> Iterator[Blob]:
        yield from self.past
        if self.current:
            yield self.current


@dataclass(frozen=True)
class Keeping:
    """The account's settings."""

    versions: bool
    deleted_days: int

    @classmethod
    def of(cls, service: Resource) -> "Keeping":
        properties = service.properties
        retention = properties.get("deleteRetentionPolicy") or {}
        return cls(
            bool(properties.get("isVersioningEnabled")), int(retention["days"]) if retention.get("enabled") else 0
        )


_last = datetime.fromtimestamp(0, UTC)


def moment() -> str:
    """A time that no other version or snapshot has, as Azure writes it: 100 ns apart."""
    global _last
    _last = max(datetime.now(UTC), _last + timedelta(microseconds=1))
    return f"{_last:%Y-%m-%dT%H:%M:%S.%f}0Z"


class Blobs:
    """A container's, over what its resource keeps."""

    def __init__(self, container: Resource, keeping: Keeping) -> None:
        self.entries: dict[str, Entry] = container.state.setdefault("blobs", {})
        self.keeping = keeping
        self._forget()

    def _forget(self) -> None:
        """What was deleted too long ago is gone."""
        oldest = time.time() - self.keeping.deleted_days * DAY_SECONDS
        for name, entry in list(self.entries.items()):
            entry.past = [one for one in entry.past if one.deleted is None or one.deleted > oldest]
            if not (entry.current or entry.past or entry.waiting):
                del self.entries[name]

    def entry(self, name: str) -> Entry:
        return self.entries.setdefault(name, Entry())

    def find(self, name: str, version: str | None = None, snapshot: str | None = None) -> Blob | None:
        entry = self.entries.get(name) or Entry()
        if version is None and snapshot is None:
            return entry.current
        return next(
            (
                one
                for one in entry.every()
                if one.deleted is None
                and (
                    (version and one.version == version and not one.snapshot) or (snapshot and one.snapshot == snapshot)
                )
            ),
            None,
        )

    def get(self, name: str, version: str | None = None, snapshot: str | None = None) -> Blob:
        """Raises ArmError."""
        found = self.find(name, version, snapshot)
        if found is None:
            raise ArmError(404, "BlobNotFound", "The specified blob does not exist.")
        return found

    def put(self, blob: Blob) -> Blob:
        """In place of what has its name."""
        entry = self.entry(blob.name)
        if entry.current:
            self._past(entry, entry.current)
            blob.created = entry.current.created
        blob.version = moment() if self.keeping.versions else None
        entry.current, entry.waiting = blob, {}
        return blob

    def _past(self, entry: Entry, old: Blob) -> None:
        if old.version:
            entry.past.append(old)
        elif self.keeping.versions:
            # What was there before versioning began gets a version by its time, now that it is none of the present.
            entry.past.append(replace(old, version=moment()))
        elif self.keeping.deleted_days:
            entry.past.append(replace(old, snapshot=moment(), deleted=time.time()))

    def snapshot(self, blob: Blob, metadata: dict[str, str]) -> Blob:
        content = blob.content
        if blob.kind == "PageBlob":
            content = Content(size=blob.content.size)
            for page in blob.pages:
                content.write(page * PAGE_BYTES, blob.content.read(page * PAGE_BYTES, PAGE_BYTES))
        made = replace(blob, content=content, snapshot=moment(), metadata=metadata or blob.metadata, version=None)
        made.pages = set(blob.pages)
        self.entry(blob.name).past.append(made)
        return made

    def delete(self, blob: Blob, snapshots: str | None) -> None:
        """`snapshots`: what x-ms-delete-snapshots says. Raises ArmError."""
        entry = self.entry(blob.name)
        if blob is not entry.current:
            self._drop(entry, blob)
            return
        own = [one for one in entry.past if one.snapshot and one.deleted is None]
        if own and snapshots is None:
            message = "This operation is not permitted because the blob has snapshots."
            raise ArmError(409, "SnapshotsPresent", message)
        for one in own:
            self._drop(entry, one)
        if snapshots == "only":
            return
        entry.current = None
        if blob.version or self.keeping.versions:
            self._past(entry, blob)
        elif self.keeping.deleted_days:
            blob.deleted = time.time()
            entry.past.append(blob)
        self._forget()

    def _drop(self, entry: Entry, blob: Blob) -> None:
        if self.keeping.deleted_days:
            blob.deleted = time.time()
        else:
            entry.past.remove(blob)
        self._forget()

    def undelete(self, name: str) -> None:
        """All of a name that is deleted and still there."""
        entry = self.entries.get(name) or Entry()
        if entry.current is None and not entry.past:
            raise ArmError(404, "BlobNotFound", "The specified blob does not exist.")
        for one in [one for one in entry.past if one.deleted is not None]:
            one.deleted = None
            if one.version is None and one.snapshot is None:
                entry.past.remove(one)
                entry.current = entry.current or one


def md5(data: bytes) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()
