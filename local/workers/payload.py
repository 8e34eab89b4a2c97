"""Files of a volume that change together, as the kubelet writes them: `..data` leads to the folder of one moment.

A container that holds the volume sees the old files or the new ones, and the names beside `..data` never change.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

DATA = "..data"


class File(NamedTuple):
    content: bytes
    mode: int


class Owner(NamedTuple):
    """Of the files: None leaves root's. Of a group the files are readable to it."""

    user: int | None = None
    group: int | None = None


def clean(path: str) -> str:
    """Raises ValueError for one that leads out of the volume."""
    parts = Path(path).parts
    if not parts or Path(path).is_absolute() or ".." in parts or parts[0].startswith(".."):
        raise ValueError(f"{path!r} is no path inside a volume")
    return str(Path(path))


def write(folder: Path, files: Mapping[str, File], owner: Owner) -> bool:
    """Brings the folder to exactly these files. False if it had them. Raises OSError, ValueError."""
    files = {clean(path): file for path, file in files.items()}
    folder.mkdir(parents=True, exist_ok=True)
    if now(folder) == {path: file.content for path, file in files.items()}:
        return False
    draft = Path(tempfile.mkdtemp(prefix="..", dir=folder))
    draft.chmod(0o755)
    for path, file in files.items():
        target = draft / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.content)
        own(target, file.mode, owner)
    old = (folder / DATA).readlink() if (folder / DATA).is_symlink() else None
    link = folder / f"{DATA}_tmp"
    link.unlink(missing_ok=True)
    link.symlink_to(draft.name)
    link.replace(folder / DATA)
    names = {Path(path).parts[0] for path in files}
    for name in names:
        with contextlib.suppress(FileExistsError):
            (folder / name).symlink_to(f"{DATA}/{name}")
    for entry in folder.iterdir():
        if not entry.name.startswith("..") and entry.name not in names:
            entry.unlink()
    if old:
        shutil.rmtree(folder / old)
    return True


def own(target: Path, mode: int, owner: Owner) -> None:
    if owner.group is not None:
        mode |= 0o440
    os.chown(target, -1 if owner.user is None else owner.user, -1 if owner.group is None else owner.group)
    target.chmod(mode)


def now(folder: Path) -> dict[str, bytes] | None:
    """What is in it, or None if it was never written."""
    data = folder / DATA
    if not data.is_dir():
        return None
    return {str(file.relative_to(data)): file.read_bytes() for file in data.rglob("*") if file.is_file()}
