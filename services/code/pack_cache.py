"""Packs and trees that stay at a site, by their digests: the next pod there needs no cloud.

Several pods may use a folder at once: files are renamed into place whole, and judged by their digests when they are
read. Nothing here can end a fetch: what the cache can't give or take goes past it.
"""

import contextlib
import hashlib
import os
import secrets
import sys
import time
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from fleet.team_code import MIB, digest, pack_key, tree_key

CHUNK_BYTES = MIB
# What a pod left that was killed while it wrote.
STALE_SECONDS = 3600.0


class PackCache:
    """In a folder, which is made if it is absent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ailing = False

    def tree(self, sha256: str) -> bytes | None:
        """None where it is absent or damaged."""
        path = self.folder / tree_key(sha256)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        if digest(data) != sha256:
            _remove(path)
            return None
        _used(path)
        return data

    def keep_tree(self, sha256: str, data: bytes) -> None:
        self._keep(self.folder / tree_key(sha256), iter([data]))

    def pack(self, sha256: str) -> BufferedReader | None:
        """Open, at its beginning; None where it is absent or damaged."""
        path = self.folder / pack_key(sha256)
        try:
            file = path.open("rb")
        except OSError:
            return None
        if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
            file.close()
            _remove(path)
            return None
        file.seek(0)
        _used(path)
        return file

    def keep_pack(self, sha256: str, chunks: Iterator[bytes]) -> BufferedReader | None:
        """What is kept then, as `pack` has it. What `chunks` raises goes on to the caller."""
        self._keep(self.folder / pack_key(sha256), chunks)
        return self.pack(sha256)

    def clean(self, most_bytes: int) -> None:
        """What has not been used for longest goes first. A pod that is reading it reads on."""
        found, now = [], time.time()
        for path in [*self.folder.glob("packs/*"), *self.folder.glob("trees/*")]:
            with contextlib.suppress(OSError):
                status = path.stat()
                if not path.name.startswith("."):
                    found.append((status.st_mtime_ns, status.st_size, path))
                elif status.st_mtime + STALE_SECONDS < now:
                    _remove(path)
        whole = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if whole <= most_bytes:
                break
            _remove(path)
            whole -= size

    def _keep(self, path: Path, chunks: Iterator[bytes]) -> None:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = temporary.open("xb")
        except OSError as error:
            self._ail(error)
            return
        try:
            with file:
                for chunk in chunks:
                    try:
                        file.write(chunk)
                    except OSError as error:
                        self._ail(error)
                        return
            temporary.replace(path)
        except OSError as error:
            self._ail(error)
        finally:
            _remove(temporary)

    def _ail(self, error: OSError) -> None:
        if not self.ailing:
            sys.stderr.write(f"code: {self.folder} can't be used as a cache: {error.strerror}: going on without\n")
        self.ailing = True


def _used(path: Path) -> None:
    with contextlib.suppress(OSError):  # another user's, which is all right
        os.utime(path)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
