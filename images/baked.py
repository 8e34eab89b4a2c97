"""A baked image on this machine: a folder with its disks and `image.json`, which says what is in them.

A folder's name is the image's: variant, Kubernetes version and twelve digits of its digest. Two bakes of the same
contents have the same name and the same disks, so a name says all there is to know.
"""

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from .errors import ImageError

DOCUMENT = "image.json"
DIGITS = 12
CHUNK_BYTES = 1 << 20
# Disks by what takes them: EBS and bare metal, QEMU, Azure.
Format = Literal["raw", "qcow2", "vhd"]
# Names become paths and addresses: of none does a slash come, nor a way up.
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
File = Annotated[str, StringConstraints(pattern=r"^disk\.[a-z0-9]+$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Part(BaseModel):
    """In these models a field that is unknown or changes is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Disk(Part):
    """A file beside `image.json`, its length and SHA-256."""

    file: File
    size_bytes: int
    sha256: Sha256


class Baked(Part):
    """`digest` is the SHA-256 of the listing of all files, `driver` NVIDIA's version, None where it is driverless."""

    name: Name
    variant: str
    base: str
    kubernetes: str
    digest: Sha256
    driver: str | None
    kernel: str
    root_mib: int
    packages: int
    disks: dict[Format, Disk]


def name_of(variant: str, kubernetes: str, digest: str) -> str:
    return f"{variant}-{kubernetes}-{digest[:DIGITS]}"


def read(folder: Path) -> Baked:
    """Raises ImageError for a folder that no bake has made, or that was changed since."""
    file = folder / DOCUMENT
    try:
        image = Baked.model_validate_json(file.read_bytes())
    except OSError as error:
        message = f"{file}: {error.strerror}. Name a folder that `landbridge image bake` made: `landbridge image list`"
        raise ImageError(message) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ImageError(
            f"{file}: {where}: {first['msg']}. It is none of this version's: remove the folder, or bake it again"
        ) from None
    if image.name != (right := name_of(image.variant, image.kubernetes, image.digest)):
        raise ImageError(
            f"{file}: name: it is {image.name}, and what it says of its contents makes {right}: it was changed since. "
            "Bake the image again"
        )
    return image


def beside(folder: Path, name: str) -> str:
    """A text that lies beside the disks. Raises ImageError where it is gone."""
    try:
        return (folder / name).read_text()
    except OSError as error:
        raise ImageError(f"{folder / name}: {error.strerror}. Bake the image again") from None


def verified(folder: Path, baked: Baked, disk: Format) -> Path:
    """The disk's file, read whole once. Raises ImageError if it is not what was baked."""
    if disk not in baked.disks:
        raise ImageError(f"{folder} has no {disk} disk, only {', '.join(baked.disks)}. Bake it again")
    what = baked.disks[disk]
    file = folder / what.file
    try:
        found = sha256(file)
    except OSError as error:
        raise ImageError(f"{file}: {error.strerror}. Bake the image again") from None
    if found != what.sha256:
        raise ImageError(
            f"{file} has the digest {found}, and the bake wrote {what.sha256}: it was changed or damaged since. "
            "Bake the image again; nothing was done with it"
        )
    return file


def sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def listed(home: Path) -> Iterator[tuple[Path, Baked]]:
    """Every image in a folder of images, the newest first."""
    found = [file.parent for file in home.glob(f"*/{DOCUMENT}")] if home.is_dir() else []
    for folder in sorted(found, key=lambda one: (one / DOCUMENT).stat().st_mtime, reverse=True):
        yield folder, read(folder)


def remove(folder: Path) -> None:
    """Its document first: a folder without one is no image, whatever interrupts."""
    (folder / DOCUMENT).unlink(missing_ok=True)
    shutil.rmtree(folder)
