"""What a machine room's installer asks before it writes a disk: whether an image is the one that was published.

From a folder or over HTTP; the key is the only thing that is trusted.
"""

import hashlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import urlopen

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from ...baked import CHUNK_BYTES
from ...errors import ImageError
from . import index as site_index
from .index import Index
from .store import DISK, IMAGES

TIMEOUT_SECONDS = 30
# An index of a thousand images has a tenth of it.
MOST_INDEX_BYTES = 16 << 20


class Checked(NamedTuple):
    """An image that is what the index says; `where` is its disk."""

    name: str
    where: str
    size_bytes: int
    sha256: str


def read(where: str, key: Ed25519PublicKey) -> Index:
    """The index of a folder or URL. Raises ImageError where it is not signed by the key."""
    with _reading(f"{where.rstrip('/')}/{site_index.FILE}") as (stream, place):
        return site_index.opened(stream.read(MOST_INDEX_BYTES), key, place)


def verify(where: str, index: Index, name: str | None = None, keep: Path | None = None) -> Iterator[Checked]:
    """Each image of the index of that folder or URL, or this one, read whole.

    `name` is an image's, or a channel's: cpu/1.36.2/stable. One that is disabled is refused by name, and else left
    out. With `keep` its disk is a file there, once it is verified. Raises ImageError at the first that differs.
    """
    named = index.pointers[name].image if name and name in index.pointers else name
    if named is not None and named not in index.images:
        available = ", ".join([*index.pointers, *index.images]) or "nothing"
        raise ImageError(f"{where} has no image or channel {name}. It has: {available}")
    if named is not None and index.images[named].state == "disabled":
        raise ImageError(
            f"{named} is disabled: it was taken back, and no machine may start from it. Name another one, or promote "
            "it where it was published"
        )
    for image in [named] if named else [one for one, listed in index.images.items() if listed.state != "disabled"]:
        what = index.images[image].image.disks[DISK]
        place = f"{where.rstrip('/')}/{IMAGES}/{image}/{what.file}"
        with _atomic_copy(keep) as copy:
            size, found = _digest(place, copy)
            if (size, found) != (what.size_bytes, what.sha256):
                raise ImageError(
                    f"{place} has {size} bytes with the digest {found}, and {what.size_bytes} with {what.sha256} were "
                    "published. Do not start a machine from it; publish the image again"
                )
        yield Checked(image, place, size, found)


class _Unkept(Exception):
    """An OSError of the copy that is kept: the place that is read is not to blame."""


@contextmanager
def _atomic_copy(file: Path | None) -> Iterator[IO[bytes] | None]:
    """A copy that is the file once all went well; else nothing is left of it. Raises ImageError."""
    if file is None:
        yield None
        return
    where = file.absolute()
    if where.exists() and not where.is_file():
        raise ImageError(f"{file} is {'a folder' if where.is_dir() else 'no file'}: name a file by --output")
    half = where.with_name(f".{where.name}.half")
    try:
        try:
            with half.open("wb") as copy:
                yield copy
            half.rename(where)
        finally:
            half.unlink(missing_ok=True)
    except _Unkept as error:
        raise _refused(file, error.args[0]) from None
    except OSError as error:
        raise _refused(file, error) from None


def _refused(file: Path, error: OSError) -> ImageError:
    return ImageError(f"{file} can't be written: {error.strerror or error}. Name another file by --output")


def _digest(place: str, copy: IO[bytes] | None) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    with _reading(place) as (stream, _):
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
            if copy:
                try:
                    copy.write(chunk)
                except OSError as error:
                    raise _Unkept(error) from None
    return size, digest.hexdigest()


class _reading:  # noqa: N801
    """A file, or what an address answers; what can't be read is one clear error."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> tuple[IO[bytes], str]:
        try:
            scheme = urlsplit(self.place).scheme
        except ValueError as error:
            raise ImageError(f"{self.place} is no address: {error}") from None
        if scheme not in ("", "https", "http"):
            raise ImageError(f"{self.place}: name a folder, or an address that begins with https://")
        try:
            opened: Any = urlopen(self.place, timeout=TIMEOUT_SECONDS) if scheme else Path(self.place).open("rb")  # noqa: S310
        # HTTPException: no HTTP is spoken there, or the address can't be asked for. ValueError: a zero in a path.
        except (OSError, HTTPException, ValueError) as error:
            why = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
            raise ImageError(f"{self.place} can't be read: {why}") from None
        self.stream = closing(opened)
        return self.stream.__enter__(), self.place

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.stream.__exit__(kind, error, trace)
        if isinstance(error, OSError | HTTPException):
            raise ImageError(f"{self.place} can't be read: {error}") from None
