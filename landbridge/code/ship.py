"""Sends what a folder has and the bucket lacks: packs of new files, then the tree.

The tree goes last, so one that is there is whole. Whoever is interrupted has only left packs that the next launch uses.
"""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

from fleet.team_code import EMPTY, File, Part, Tree, diff_key, digest, pack_key, tree_key, write
from landbridge.errors import LandbridgeError

from .folder import Folder, Source, opened
from .known_packs import KnownPacks
from .packing import Piece, packed, to_keep

THREADS = 8
# Bytes sent, of bytes to send.
Told = Callable[[int, int], None]


class Store(Protocol):
    """A team's folder of code. Keys are those of fleet.team_code. All raise LandbridgeError."""

    def exists(self, key: str) -> bool: ...

    def put(self, key: str, data: bytes) -> None:
        """Also where the same already lies."""

    def read(self, key: str) -> bytes | None:
        """None where there is no such object."""


class Shipped(NamedTuple):
    """`digest` is the code's. `sent_bytes` has packs, tree and diff; `new_files` had to be sent. `diff` is the digest
    of the folder's diff, empty where there is none.
    """

    digest: str
    sent_bytes: int
    files: int
    new_files: int
    diff: str


class Sent(NamedTuple):
    """A pack that is in the bucket now; each piece lies where the one before it ends."""

    pack: str
    size_bytes: int
    pieces: list[Piece]


def ship(folder: Folder, store: Store, known: KnownPacks, told: Told = lambda *_: None) -> Shipped:
    """Raises LandbridgeError, also when a file has changed since the folder was looked at."""
    contents = {one.sha256: one for one in reversed(folder.files) if one.size_bytes}
    with ThreadPoolExecutor(THREADS) as pool:
        placed = _placed(contents, store, known, pool)
        new = [one for sha256, one in contents.items() if sha256 not in placed]
        kept = to_keep(placed, len(packed(new)))
        placed = {sha256: parts for sha256, parts in placed.items() if all(part.pack in kept for part in parts)}
        new = [one for sha256, one in contents.items() if sha256 not in placed]
        shipment = _Shipment(folder, store, sum(one.size_bytes for one in new), told)
        done = list(pool.map(shipment.send, packed(new)))
    known.add({one.pack: one.size_bytes for one in done}, _lying(done))
    known.add({}, placed)  # used now, hence forgotten last
    placed |= {one.sha256: known.parts(one.sha256) for one in new}
    tree = write(_tree(folder, placed, known))
    shipment.put(tree_key(digest(tree)), tree)
    diff = digest(folder.diff) if folder.diff else ""
    if diff:
        shipment.put(diff_key(diff), folder.diff)
    known.save()
    sent = {one.sha256 for one in new}
    new_files = sum(one.sha256 in sent for one in folder.files)
    return Shipped(digest(tree), shipment.sent_bytes, len(folder.files), new_files, diff)


class _Shipment:
    """What goes, and how much of it has gone."""

    def __init__(self, folder: Folder, store: Store, whole_bytes: int, told: Told) -> None:
        self.folder, self.store, self.whole_bytes, self.told = folder, store, whole_bytes, told
        self.sent_bytes = self.passed_bytes = 0
        self.lock = threading.Lock()

    def send(self, pieces: list[Piece]) -> Sent:
        data = b"".join(self._bytes(piece) for piece in pieces)
        made = Sent(digest(data), len(data), pieces)
        self.put(pack_key(made.pack), data)
        with self.lock:
            self.passed_bytes += len(data)
            self.told(self.passed_bytes, self.whole_bytes)
        return made

    def put(self, key: str, data: bytes) -> None:
        """Not what is there, of another person or of a launch that was interrupted."""
        if not self.store.exists(key):
            self.store.put(key, data)
            with self.lock:
                self.sent_bytes += len(data)

    def _bytes(self, piece: Piece) -> bytes:
        source = piece.source
        try:
            with opened(self.folder.root, source.path, source.stamp) as file:
                file.seek(piece.offset_bytes)
                data = file.read(piece.size_bytes)
        except OSError as error:
            raise LandbridgeError(
                f"{self.folder.root / source.path} can't be read any more: {error.strerror}; nothing was launched. "
                "Launch again."
            ) from None
        # A file of several pieces is judged by its stamp alone, here; the pod judges it by its digest, too.
        if piece.size_bytes == source.size_bytes and digest(data) != source.sha256:
            raise LandbridgeError(
                f"{self.folder.root / source.path} is not what it was when its digest was made, and its times have not "
                "changed; nothing was launched. Touch it, and launch again."
            )
        return data


def _placed(
    contents: Iterable[str], store: Store, known: KnownPacks, pool: ThreadPoolExecutor
) -> dict[str, tuple[Part, ...]]:
    """Contents that lie in packs which are there just now."""
    used = sorted({part.pack for sha256 in contents for part in known.parts(sha256)})
    for pack, there in zip(used, pool.map(lambda pack: store.exists(pack_key(pack)), used), strict=True):
        if not there:
            known.forget(pack)
    return {sha256: parts for sha256 in contents if (parts := known.parts(sha256))}


def _lying(done: Iterable[Sent]) -> dict[str, list[Part]]:
    """Where the contents of packs lie, by digest. Pieces of one file come in their order."""
    lying: dict[str, list[Part]] = {}
    for one in done:
        offset = 0
        for piece in one.pieces:
            lying.setdefault(piece.source.sha256, []).append(Part(one.pack, offset, piece.size_bytes))
            offset += piece.size_bytes
    return lying


def _tree(folder: Folder, placed: dict[str, tuple[Part, ...]], known: KnownPacks) -> Tree:
    def file(one: Source) -> File:
        parts = placed[one.sha256] if one.sha256 != EMPTY else ()
        return File(one.path, one.mode, one.size_bytes, one.sha256, parts)

    packs = {part.pack for parts in placed.values() for part in parts}
    return Tree(tuple(map(file, folder.files)), folder.links, {pack: known.size_bytes(pack) for pack in packs})
