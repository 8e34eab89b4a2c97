"""Lays a tree of code down in a folder: every file by its digest, or nothing at all."""

import contextlib
import functools
import hashlib
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple, TypeVar

from fleet.team_code import MARKER, MIB, File, Tree, digest, pack_key, parse, tree_key

from .errors import BrokenError, FetchError, Stream
from .pack_cache import PackCache
from .reading import Reading, originals, readings
from .source import Source

THREADS, TRIES = 8, 3
CHUNK_BYTES = MIB
HALF = "of a fetch that is not done\n"
Made = TypeVar("Made")


class Fetched(NamedTuple):
    files: int
    size_bytes: int


def fetch(source: Source, into: Path, cache: PackCache | None = None) -> Fetched:
    """Raises FetchError, and OSError of the folder's disk; then the folder is empty."""
    tree = _tree(source, cache)
    with _laid_down(into, source.place.digest):
        paths = [*(one.path for one in tree.files), *(one.path for one in tree.links)]
        for folder in {path.rpartition("/")[0] for path in paths}:
            (into / folder).mkdir(parents=True, exist_ok=True)
        _fill(source, into, tree, cache)
        for link in tree.links:  # last, so that no file is ever written through one
            (into / link.path).symlink_to(link.target)
    return Fetched(len(tree.files), sum(one.size_bytes for one in tree.files))


def _tree(source: Source, cache: PackCache | None) -> Tree:
    sha256 = source.place.digest
    data = cache.tree(sha256) if cache else None
    if data is None:
        data = source.tree()
        if digest(data) != sha256:
            where = source.place.where(tree_key(sha256))
            raise FetchError(
                f"{where} is not what its name says: it was changed or damaged. Delete it, and launch again"
            )
        if cache:
            cache.keep_tree(sha256, data)
    try:
        return parse(data)
    except ValueError as error:
        raise FetchError(f"{source.place.where(tree_key(sha256))} is no tree: {error}") from None


@contextmanager
def _laid_down(into: Path, sha256: str) -> Iterator[None]:
    """A folder that was empty or of a former try, and is empty again when this one fails.

    Not a folder beside it that takes its name: a pod's is a volume, and keeps its name. What a kill leaves has a marker
    that says so; the pod's next try begins by emptying it.
    """
    into.mkdir(parents=True, exist_ok=True)
    marker = into / MARKER
    if not marker.exists() and (foreign := next(into.iterdir(), None)):
        raise FetchError(f"{into} has files that are not of a fetch, such as {foreign.name}: name an empty folder")
    marker.write_text(HALF)
    _empty(into)
    try:
        yield
        marker.write_text(f"{sha256}\n")
    except BaseException:
        with contextlib.suppress(OSError):
            _empty(into)
            marker.unlink()
        raise


def _empty(into: Path) -> None:
    """All but the marker."""
    for path in into.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != MARKER:
            path.unlink()


def _fill(source: Source, into: Path, tree: Tree, cache: PackCache | None) -> None:
    first = originals(tree)
    stop = threading.Event()

    def lay(pack: str, wanted: list[Reading]) -> None:
        if stop.is_set():
            return
        try:
            _lay(source, into, pack, tree.packs[pack], wanted, cache)
        except BaseException:
            stop.set()  # the other packs are of no use any more
            raise

    with ThreadPoolExecutor(THREADS) as pool:
        jobs = [pool.submit(lay, pack, wanted) for pack, wanted in readings(tree).items()]
    for job in jobs:
        job.result()
    for file in tree.files:
        original = first[file.sha256, file.parts]
        if original is not file:
            shutil.copyfile(into / original.path, into / file.path)
        elif len(file.parts) != 1:
            _judge(into, file, source)
        (into / file.path).chmod(file.mode)


def _lay(
    source: Source, into: Path, pack: str, size_bytes: int, wanted: list[Reading], cache: PackCache | None
) -> None:
    """All that a tree has in one pack."""

    def kept(of: PackCache) -> BufferedReader | None:
        return of.keep_pack(pack, _whole(source, pack, size_bytes))

    if cache and (file := cache.pack(pack) or _tried(lambda: kept(cache))):
        with file:
            for reading in wanted:
                file.seek(reading.start)
                _pour(file, reading, into, source)
        return
    for reading in wanted:
        _tried(functools.partial(_ask, source, pack, reading, into))


def _ask(source: Source, pack: str, reading: Reading, into: Path) -> None:
    _pour(source.pack(pack, reading.start, reading.end), reading, into, source)


def _tried(work: Callable[[], Made]) -> Made:
    """S3's client does not try again when an answer has begun."""
    for _ in range(TRIES - 1):
        with contextlib.suppress(BrokenError):
            return work()
    return work()


def _whole(source: Source, pack: str, size_bytes: int) -> Iterator[bytes]:
    """A pack for the cache, judged as it passes."""
    answer, judged = source.pack(pack, 0, size_bytes), hashlib.sha256()
    for chunk in _chunks(answer, size_bytes, source, pack):
        judged.update(chunk)
        yield chunk
    if judged.hexdigest() != pack:
        raise _changed(source, pack, "the pack is not what its name says")


def _pour(answer: Stream, reading: Reading, into: Path, source: Source) -> None:
    at = reading.start
    for segment in reading.segments:
        pack = segment.pack
        for _ in _chunks(answer, segment.offset_bytes - at, source, pack):
            pass
        judged = hashlib.sha256()
        # Not cut off: another thread may have written a later part of it already.
        with os.fdopen(os.open(into / segment.file.path, os.O_WRONLY | os.O_CREAT, 0o644), "wb") as file:
            file.seek(segment.at_bytes)
            for chunk in _chunks(answer, segment.size_bytes, source, pack):
                judged.update(chunk)
                file.write(chunk)
        if len(segment.file.parts) == 1 and judged.hexdigest() != segment.file.sha256:
            raise _changed(source, pack, f"{segment.file.path} in it is not what the tree says")
        at = segment.end


def _chunks(answer: Stream, size_bytes: int, source: Source, pack: str) -> Iterator[bytes]:
    while size_bytes:
        chunk = answer.read(min(CHUNK_BYTES, size_bytes))
        if not chunk:
            raise BrokenError(
                f"{source.place.where(pack_key(pack))}: {size_bytes} bytes that the tree names are missing"
            )
        size_bytes -= len(chunk)
        yield chunk


def _judge(into: Path, file: File, source: Source) -> None:
    """A file of several parts, or of none."""
    path = into / file.path
    if not file.parts:
        path.touch()
        return
    with path.open("rb") as opened:
        if hashlib.file_digest(opened, "sha256").hexdigest() != file.sha256:
            raise _changed(source, file.parts[0].pack, f"{file.path}, which begins in it, is not what the tree says")


def _changed(source: Source, pack: str, what: str) -> FetchError:
    where = source.place.where(pack_key(pack))
    return FetchError(f"{where} was changed or damaged: {what}. Delete it, and launch again, which sends it")
