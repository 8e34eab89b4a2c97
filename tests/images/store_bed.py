"""The local AWS on loopback with a store in three of its regions, and small disks in the form that bakes have."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, get_args

from fleet import images as tags
from images import baked
from images.baked import Baked, Disk, Format
from images.stores.aws.store import Aws
from images.stores.blocks import BLOCK_BYTES
from images.stores.publishing import Waits
from tests.local.aws.conftest import clients
from tests.local.azure.vhds import footer

REGIONS = ("us-west-2", "us-east-1", "eu-west-1")
KUBERNETES = "1.36.2"
# Of a disk of 4 MiB: with holes, and a last block that is not whole.
SIZE_BYTES, USED = 8 * BLOCK_BYTES - 4096, (0, 3, 4, 7)
# Azure takes no smaller one.
VHD_BYTES = 20 << 20


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
    with (folder / "disk.vhd").open("wb") as disk:
        disk.write((folder / "disk.raw").read_bytes())
        disk.truncate(VHD_BYTES)
        disk.seek(VHD_BYTES)
        disk.write(footer(VHD_BYTES))
    disks = {}
    for kind in get_args(Format):
        file = folder / f"disk.{kind}"
        disks[kind] = Disk(file=file.name, size_bytes=file.stat().st_size, sha256=baked.sha256(file))
    image = Baked(
        name=folder.name, variant=variant, base="debian-13", kubernetes=KUBERNETES, digest=digest, driver=driver,
        kernel="6.12", root_mib=1, packages=1, disks=disks,
    )  # fmt: skip
    (folder / baked.DOCUMENT).write_text(image.model_dump_json())
    return folder, image


def store(endpoint: str, journals: Path, fleet: str = "example", regions: tuple[str, ...] = REGIONS) -> Aws:
    make: Callable[..., Any] = cache(clients(endpoint))
    return Aws(fleet, regions, lambda region: lambda service: make(service, region), journals, Waits(0.1, 100))


def registered(store: Aws, region: str, name: str, *, tagged: bool = True) -> str:
    """A copy of a stand-in; the tags say whether it is one that was published."""
    held = {tags.NAME: name, tags.VARIANT: "cpu", tags.TAG: KUBERNETES, "landbridge:fleet": store.fleet}
    given: dict[str, Any] = {}
    if tagged:
        listed = [{"Key": key, "Value": value} for key, value in held.items()]
        given = {"TagSpecifications": [{"ResourceType": "image", "Tags": listed}]}
    ec2 = store.of(region)("ec2")
    source = ec2.describe_images(Owners=["self"], Filters=[{"Name": "state", "Values": ["available"]}])["Images"][0][
        "ImageId"
    ]
    name = f"{store.fleet}-{name}"
    made = str(ec2.copy_image(Name=name, SourceImageId=source, SourceRegion=region, **given)["ImageId"])
    ec2.get_waiter("image_available").wait(ImageIds=[made], WaiterConfig={"Delay": 0.1, "MaxAttempts": 100})
    return made
