"""A store in three regions of the local AWS, by boto3."""

import contextlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from fleet import images as tags
from images.baked import Baked
from images.stores.aws.blocks import BLOCK_BYTES
from images.stores.aws.store import Aws
from images.stores.publishing import Waits
from tests.local.aws.conftest import asker, clients

from ..store_bed import KUBERNETES, USED, Mortal, StoreBed

REGIONS = ("us-west-2", "us-east-1", "eu-west-1")
WRITES = (
    "start_snapshot",
    "put_snapshot_block",
    "complete_snapshot",
    "register_image",
    "copy_image",
    "put_parameter",
)


def store(endpoint: str, journals: Path, fleet: str = "example", regions: tuple[str, ...] = REGIONS) -> Aws:
    make: Callable[..., Any] = cache(clients(endpoint))
    return Aws(fleet, regions, lambda region: lambda service: make(service, region), journals, Waits(0.1, 100))


@contextlib.contextmanager
def interrupted(store: Aws, due: Callable[[str], bool]) -> Iterator[None]:
    whole = store.clients
    store.clients = {key: Mortal(client, due) for key, client in whole.items()}
    yield
    store.clients = whole


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


def images(store: Aws, region: str) -> list[dict[str, Any]]:
    name = {"Name": "name", "Values": [f"{store.fleet}-*"]}
    return list(store.of(region)("ec2").describe_images(Owners=["self"], Filters=[name])["Images"])


def snapshots(store: Aws, region: str) -> list[dict[str, Any]]:
    fleet = {"Name": "tag:landbridge:fleet", "Values": [store.fleet]}
    return list(store.of(region)("ec2").describe_snapshots(OwnerIds=["self"], Filters=[fleet])["Snapshots"])


class Bed(StoreBed):
    regions, disk, pointing = REGIONS, "disk.raw", "put_parameter"
    steps = tuple(f"{when} {name}" for name in WRITES for when in ("before", "after"))
    put, closing, blocks = "after put_snapshot_block", "before complete_snapshot", len(USED)
    refusal = r"^us-east-1: CopyImage was refused .*the same command goes on with it"
    taken = r"us-west-2 has another image with the name taken-cpu-"

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def store(self, folder: Path, fleet: str, regions: int = 3) -> Aws:
        return store(self.endpoint, folder, fleet, REGIONS[:regions])

    def interrupted(self, store: Any, due: Callable[[str], bool]) -> contextlib.AbstractContextManager[None]:
        return interrupted(store, due)

    def refuse(self) -> None:
        asker(self.endpoint)("faults", [{"kind": "throttling", "calls": 1, "operation": "CopyImage"}])

    def calm(self) -> None:
        asker(self.endpoint)("faults", [])

    def sent(self, store: Any) -> list[Any]:
        return snapshots(store, REGIONS[0])

    def assert_whole(self, store: Any, folder: Path, image: Baked) -> None:
        for region in REGIONS:
            (one,) = images(store, region)
            (disk,) = one["BlockDeviceMappings"]
            (snapshot,) = snapshots(store, region)
            assert (one["State"], one["Architecture"], one["BootMode"]) == ("available", "x86_64", "uefi")
            assert (one["EnaSupport"], one["ImdsSupport"], one.get("TpmSupport")) == (True, "v2.0", None)
            root = (disk["DeviceName"], disk["Ebs"]["VolumeType"], disk["Ebs"]["Encrypted"])
            assert root == ("/dev/sda1", "gp3", True)
            assert (disk["Ebs"]["SnapshotId"], snapshot["Encrypted"]) == (snapshot["SnapshotId"], True)
            assert snapshot["State"] == "completed"
            for tagged in (one, snapshot):
                held = {tag["Key"]: tag["Value"] for tag in tagged["Tags"]}
                assert held[tags.DIGEST] == image.digest
                assert (held[tags.TAG], held[tags.VARIANT]) == (KUBERNETES, image.variant)
                assert held[tags.DRIVER] == (image.driver or "none")
            ebs = store.of(region)("ebs")
            listed = ebs.list_snapshot_blocks(SnapshotId=snapshot["SnapshotId"])["Blocks"]
            raw = (folder / "disk.raw").read_bytes().ljust(8 * BLOCK_BYTES, b"\0")
            assert [block["BlockIndex"] for block in listed] == list(USED)
            for block in listed:
                data = ebs.get_snapshot_block(SnapshotId=snapshot["SnapshotId"], **block)["BlockData"].read()
                assert data == raw[block["BlockIndex"] * BLOCK_BYTES :][:BLOCK_BYTES]

    def images(self, store: Any, folder: Path, *marks: str) -> list[str]:
        """Copies of a stand-in: quicker than to publish some."""
        names = [f"cpu-{KUBERNETES}-{number:012}" for number, _ in enumerate(marks)]
        for region in store.places:
            for name in names:
                registered(store, region, name)
        return names
