"""A site's images: a folder, which the site's own web server serves or which lies on a disk that it mounts.

`images/NAME/` has the disk (qcow2), its document and its bill; `index.json` says which of them count.
"""

import datetime
import errno
import fcntl
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ... import baked, bill, digest
from ...baked import Baked, Format
from ...errors import ImageError
from ...running import made
from ..store import Pointer, PointerKey, Published, Record, State, Tell
from . import index as site_index
from .index import ChannelState, Index, Listed

IMAGES, LOCK = "images", ".lock"
DISK: Format = "qcow2"
# Beside the disk, where the bake has them.
BESIDE = (bill.BILL, bill.PROVENANCE, digest.LISTING)


class Site:
    """A store of one place, the site. What it signs by `key` is all that others trust."""

    def __init__(self, site: str, folder: Path, key: Ed25519PrivateKey) -> None:
        self.site, self.folder, self.key = site, folder, key
        self.places: Sequence[str] = (site,)

    def publish(self, folder: Path, image: Baked, tell: Tell) -> Mapping[str, str]:
        baked.verified(folder, image, DISK)
        with self._changing() as index:
            place = self.folder / IMAGES / image.name
            if not self._whole(place, image):
                self._copy(folder, image, place)
                tell(f"{self.site}: copied to {place}")
            before, now = index.images.get(image.name), datetime.datetime.now(datetime.UTC)
            published = before.published if before else now
            self._write(index, images={image.name: _listed(image, published, "available", now)})
        return {self.site: image.name}

    def published(self, place: str) -> list[Published]:
        return [
            Published(
                place, name, name, one.image.variant, one.image.kubernetes, one.image.digest, one.image.driver,
                one.published, one.state, one.since,
            )
            for name, one in self._index().images.items()
        ]  # fmt: skip

    def exists(self, place: str, image: str) -> bool:  # noqa: ARG002
        one = self._index().images.get(image)
        return one is not None and one.state != "disabled"

    def pointers(self, place: str) -> list[Pointer]:
        return [
            Pointer(
                place,
                PointerKey(*key.split("/")),
                one.image,
                one.previous,
                Record(one.who, one.when, one.why, one.before),
            )
            for key, one in self._index().pointers.items()
        ]

    def point(self, place: str, key: PointerKey, image: str, record: Record) -> None:  # noqa: ARG002
        with self._changing() as index:
            before = index.pointers.get(str(key))
            previous = "" if before is None else before.image if before.image != image else before.previous
            channel = ChannelState(image=image, previous=previous, **record._asdict())
            self._write(index, pointers={str(key): channel})

    def users(self, place: str) -> Mapping[str, Sequence[str]]:  # noqa: ARG002
        """A folder does not know who has read it: its channels alone hold images."""
        return {}

    def restore(self, image: Published) -> None:
        self._set_state(image, "available")

    def deprecate(self, image: Published) -> None:
        self._set_state(image, "deprecated")

    def disable(self, image: Published) -> None:
        self._set_state(image, "disabled")

    def remove(self, image: Published) -> None:
        with self._changing() as index:
            # What no index names may be half gone.
            self._write(index, images={image.name: None})
            shutil.rmtree(self.folder / IMAGES / image.name, ignore_errors=True)

    def _set_state(self, image: Published, state: State) -> None:
        with self._changing() as index:
            one = index.images[image.name]
            now = datetime.datetime.now(datetime.UTC)
            self._write(index, images={image.name: _listed(one.image, one.published, state, now)})

    def _index(self) -> Index:
        """An empty one where nothing was published yet."""
        file = self.folder / site_index.FILE
        try:
            text = file.read_bytes()
        except FileNotFoundError:
            now = datetime.datetime.now(datetime.UTC)
            return Index(site=self.site, number=0, written=now, images={}, pointers={})
        except OSError as error:
            raise ImageError(f"{file}: {error.strerror}. Name another folder by --folder") from None
        index = site_index.opened(text, self.key.public_key(), str(file))
        if index.site != self.site:
            raise ImageError(f"{self.folder} has the images of site {index.site}: name another folder for {self.site}")
        return index

    def _write(
        self,
        index: Index,
        images: Mapping[str, Listed | None] | None = None,
        pointers: Mapping[str, ChannelState] | None = None,
    ) -> None:
        merged = {name: one for name, one in {**index.images, **(images or {})}.items() if one is not None}
        changed = Index(
            site=index.site,
            number=index.number + 1,
            written=datetime.datetime.now(datetime.UTC),
            images=merged,
            pointers={**index.pointers, **(pointers or {})},
        )
        site_index.write(changed, self.key, self.folder / site_index.FILE)

    @contextmanager
    def _changing(self) -> Iterator[Index]:
        """The index of now, which nobody else changes meanwhile. A full disk leaves the folder as it was."""
        made(self.folder / IMAGES, "Name another folder by --folder")
        try:
            with (self.folder / LOCK).open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield self._index()
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            why = "the disk is full" if full else error.strerror or str(error)
            raise ImageError(
                f"{self.folder}: {why}. Its index is as it was. Make room there, or name another folder by --folder"
                if full
                else f"{error.filename or self.folder}: {why}. The index is as it was: {self.folder / site_index.FILE}"
            ) from None

    def _whole(self, place: Path, image: Baked) -> bool:
        disk = image.disks[DISK]
        try:
            return baked.sha256(place / disk.file) == disk.sha256
        except FileNotFoundError:
            return False

    def _copy(self, folder: Path, image: Baked, place: Path) -> None:
        half = place.with_name(f".{place.name}")
        shutil.rmtree(half, ignore_errors=True)
        try:
            half.mkdir()
            names = [image.disks[DISK].file, baked.DOCUMENT, *(name for name in BESIDE if (folder / name).exists())]
            for name in names:
                shutil.copyfile(folder / name, half / name)
            if baked.sha256(half / image.disks[DISK].file) != image.disks[DISK].sha256:
                raise ImageError(f"{image.disks[DISK].file} changed while it was copied. Nothing was published")
            shutil.rmtree(place, ignore_errors=True)
            half.rename(place)
        finally:
            shutil.rmtree(half, ignore_errors=True)


def _listed(image: Baked, published: datetime.datetime, state: State, since: datetime.datetime) -> Listed:
    return Listed(image=image, published=published, state=state, since=since)
