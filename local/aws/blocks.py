"""What is in snapshots: blocks of 512 KiB on disk, each once, named by its SHA-256.

A copy of a snapshot in another region or account is a list of the same names. What is zero is not kept, as in EBS.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

BLOCK_BYTES = 512 * 1024
_folder: Path | None = None
_temporary: tempfile.TemporaryDirectory[str] | None = None


def keep_in(folder: Path) -> None:
    """Where blocks lie; without this call in a temporary folder that goes with the process."""
    global _folder
    _folder = folder


def folder() -> Path:
    global _folder, _temporary
    if _folder is None:
        _temporary = tempfile.TemporaryDirectory(prefix="landbridge-blocks-")
        _folder = Path(_temporary.name)
    return _folder


def put(data: bytes) -> str:
    """The block's name. Whole or not there at all. Raises OSError."""
    name = hashlib.sha256(data).hexdigest()
    file = _file(name)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        half = file.with_suffix(f".{os.getpid()}")
        try:
            half.write_bytes(data)
            half.rename(file)
        finally:
            half.unlink(missing_ok=True)
    return name


def get(name: str) -> bytes:
    return _file(name).read_bytes()


def forget(names: Iterable[str], still_used: Iterable[str]) -> None:
    """Removes blocks that no snapshot has any more."""
    for name in set(names) - set(still_used):
        _file(name).unlink(missing_ok=True)


def write_disk(names: Mapping[int, str], size_gib: int, file: Path) -> None:
    """The snapshot of these blocks (index → name) as a sparse raw disk. Raises OSError."""
    with file.open("wb") as disk:
        disk.truncate(size_gib << 30)
        for index, name in sorted(names.items()):
            disk.seek(index * BLOCK_BYTES)
            disk.write(get(name))


def _file(name: str) -> Path:
    return folder() / name[:2] / name
