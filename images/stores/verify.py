"""What a machine room's installer asks before it writes a disk: whether an image is the one that was published.

From a folder or over HTTP; the key is the only thing that is trusted.
"""

import hashlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from ..baked import CHUNK_BYTES
from ..errors import ImageError
from . import signed
from .signed import Index
from .site import DISK, IMAGES

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
    with _reading(f"{where.rstrip('/')}/{signed.FILE}") as (stream, place):
        return signed.opened(stream.read(MOST_INDEX_BYTES), key, place)


def verify(where: str, key: Ed25519PublicKey, name: str | None = None, keep: Path | None = None) -> Iterator[Checked]:
    """Each image of the index, or this one, read whole. Raises ImageError at the first that differs.

    `name` is an image's, or a channel's: cpu/1.36.2/stable. With `keep` its disk is a file there, once it is verified.
    """
    index = read(where, key)
    named = index.pointers[name].image if name and name in index.pointers else name
    if named is not None and named not in index.images:
        held = ", ".join([*index.pointers, *index.images]) or "nothing"
        raise ImageError(f"{where} has no image or channel {name}. It has: {held}")
    for image in [named] if named else list(index.images):
        what = index.images[image].image.disks[DISK]
        place = f"{where.rstrip('/')}/{IMAGES}/{image}/{what.file}"
        half = keep.with_name(f".{keep.name}.half") if keep else None
        try:
            size, found = _digest(place, half)
            if (size, found) != (what.size_bytes, what.sha256):
                raise ImageError(
                    f"{place} has {size} bytes with the digest {found}, and {what.size_bytes} with {what.sha256} were "
                    "published. Do not start a machine from it; publish the image again"
                )
            if keep and half:
                half.rename(keep)
        finally:
            if half:
                half.unlink(missing_ok=True)
        yield Checked(image, place, size, found)


def _digest(place: str, copy: Path | None) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    with _reading(place) as (stream, _):
        target = copy.open("wb") if copy else None
        try:
            while chunk := stream.read(CHUNK_BYTES):
                digest.update(chunk)
                size += len(chunk)
                if target:
                    target.write(chunk)
        finally:
            if target:
                target.close()
    return size, digest.hexdigest()


class _reading:  # noqa: N801
    """A file, or what an address answers; what can't be read is one clear error."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> tuple[IO[bytes], str]:
        scheme = urlsplit(self.place).scheme
        if scheme not in ("", "https", "http"):
            raise ImageError(f"{self.place}: name a folder, or an address that begins with https://")
        try:
            opened: Any = urlopen(self.place, timeout=TIMEOUT_SECONDS) if scheme else Path(self.place).open("rb")  # noqa: S310
        except (OSError, URLError) as error:
            why = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
            raise ImageError(f"{self.place} can't be read: {why}") from None
        self.stream = closing(opened)
        return self.stream.__enter__(), self.place

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.stream.__exit__(kind, error, trace)
        if isinstance(error, OSError):
            raise ImageError(f"{self.place} can't be read: {error}") from None
