"""The local AWS on loopback with a store in three of its regions, and small disks in the form that bakes have."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from images import baked
from images.baked import Baked, Disk
from images.stores.aws import Aws, Waits
from images.stores.blocks import BLOCK_BYTES
from tests.local.aws.conftest import clients

REGIONS = ("us-west-2", "us-east-1", "eu-west-1")
KUBERNETES = "1.36.2"
# Of a disk of 4 MiB: with holes, and a last block that is not whole.
SIZE_BYTES, USED = 8 * BLOCK_BYTES - 4096, (0, 3, 4, 7)


def told(_: str) -> None:
    """Nobody listens."""


def bake(home: Path, mark: str, variant: str = "cpu", driver: str | None = None) -> tuple[Path, Baked]:
    """A folder as a bake leaves it; another mark is another disk and digest."""
    digest = baked.hashlib.sha256(mark.encode()).hexdigest()
    folder = home / baked.name_of(variant, KUBERNETES, digest)
    folder.mkdir(parents=True)
    with (folder / "disk.raw").open("wb") as disk:
        disk.truncate(SIZE_BYTES)
        for index in USED:
            disk.seek(index * BLOCK_BYTES)
            disk.write(f"{mark} {index}".encode())
    shutil.copy(folder / "disk.raw", folder / "disk.qcow2")
    disks = {
        kind: Disk(file=f"disk.{kind}", size_bytes=SIZE_BYTES, sha256=baked.sha256(folder / f"disk.{kind}"))
        for kind in ("raw", "qcow2")
    }
    image = Baked(
        name=folder.name, variant=variant, base="debian-13", kubernetes=KUBERNETES, digest=digest, driver=driver,
        kernel="6.12", root_mib=1, packages=1, disks=disks,
    )  # fmt: skip
    (folder / baked.DOCUMENT).write_text(image.model_dump_json())
    return folder, image


def store(endpoint: str, journals: Path, fleet: str = "example", regions: tuple[str, ...] = REGIONS) -> Aws:
    make: Callable[..., Any] = cache(clients(endpoint))
    return Aws(fleet, regions, lambda region: lambda service: make(service, region), journals, Waits(0.1, 100))
