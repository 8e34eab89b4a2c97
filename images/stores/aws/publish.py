"""An image into all regions of a store in AWS: snapshot, image, copies. Each step finds what a run before it has left.

A snapshot is found by the tags of its image and disk, an image by its name. What a run that was killed leaves are a
pending snapshot, which EBS cancels by itself, or images that no channel names.
"""

import itertools
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError, WaiterError

from fleet import images as tags

from ... import baked
from ...baked import Baked
from ...errors import ImageError
from ..blocks import Journal
from ..publishing import DISK, FLEET, GOES_ON, refuse_other
from ..store import Tell
from .account import Account
from .blocks import upload
from .calls import clear_errors, token

# As machines' launch templates call their root volume.
ROOT_DEVICE = "/dev/sda1"
GIB = 1 << 30
# EBS cancels a snapshot that gets no block for so long: time to notice and to go on.
TIMEOUT_MINUTES = 24 * 60


def publish(account: Account, folder: Path, image: Baked, tell: Tell) -> Mapping[str, str]:
    """Region → the image's id, once it is available in all of them. Raises ImageError."""
    raw = baked.verified(folder, image, "raw")
    home, *others = account.places
    ids = {home: _home(account, home, image, raw, tell)}

    def copied(region: str) -> str:
        return _copy(account, region, home, ids[home], image, tell)

    with ThreadPoolExecutor(max(1, len(others))) as pool:
        ids.update(zip(others, pool.map(copied, others), strict=True))
    return ids


def _home(account: Account, region: str, image: Baked, raw: Path, tell: Tell) -> str:
    with clear_errors(region, GOES_ON):
        id_, _ = _there(account, region, image)
        if id_ is None:
            snapshot = _snapshot(account, region, image, raw, tell)
            id_ = _registered(account, region, image, snapshot)
        _available(account, region, id_, tell)
    return id_


def _there(account: Account, region: str, image: Baked) -> tuple[str | None, str]:
    """The image of this name, whole or on its way, and the id of one that failed and is gone now.

    Raises ImageError for another that took the name.
    """
    ec2, name = account.of(region)("ec2"), account.name(image)
    filters = [{"Name": "name", "Values": [name]}]
    found = ec2.describe_images(Owners=["self"], Filters=filters, IncludeDisabled=True)["Images"]
    if not found:
        return None, ""
    one, found_tags = found[0], {tag["Key"]: tag["Value"] for tag in found[0].get("Tags", [])}
    refuse_other(found_tags, image, "raw", f"{region} has another image with the name {name} ({one['ImageId']})")
    if one["State"] in ("failed", "error", "invalid"):
        ec2.deregister_image(ImageId=one["ImageId"], DeleteAssociatedSnapshots=True)
        return None, str(one["ImageId"])
    if one["State"] == "disabled" or one.get("DeprecationTime"):
        account.bring_back(region, one["ImageId"], disabled=one["State"] == "disabled")
    return str(one["ImageId"]), ""


def _snapshot(account: Account, region: str, image: Baked, raw: Path, tell: Tell) -> str:
    """A completed snapshot of the disk."""
    ec2, began = account.of(region)("ec2"), time.monotonic()
    wanted = {tags.NAME: image.name, DISK: image.disks["raw"].sha256, FLEET: account.fleet}
    filters = [{"Name": f"tag:{key}", "Values": [value]} for key, value in wanted.items()]
    pages = ec2.get_paginator("describe_snapshots").paginate(OwnerIds=["self"], Filters=filters)
    found = sorted((one for page in pages for one in page["Snapshots"]), key=lambda one: one["StartTime"])
    for one in found:
        if one["State"] == "completed":
            return str(one["SnapshotId"])
    pending = next((str(one["SnapshotId"]) for one in reversed(found) if one["State"] == "pending"), None)
    id_ = pending or _started(account, region, image, raw)
    journal = Journal(account.journals / f"{id_}.blocks")
    if pending:
        tell(f"{region}: {id_} goes on, {len(journal.there)} blocks are there")
    try:
        put = upload(account.of(region)("ebs"), id_, raw, journal, lambda text: tell(f"{region}: {text}"))
    except ClientError:
        # The answer to its completion may have been lost.
        if _state(ec2, id_) != "completed":
            raise
    else:
        tell(f"{region}: {put} blocks put, {time.monotonic() - began:.0f} s")
    for one in found:
        if one["State"] == "error":
            ec2.delete_snapshot(SnapshotId=one["SnapshotId"])
    _wait(account, region, "snapshot_completed", SnapshotIds=[id_])
    return id_


def _started(account: Account, region: str, image: Baked, raw: Path) -> str:
    of, tagged = account.of(region), account.tags(image)
    # A token may still stand for a snapshot that was cancelled or deleted: the next one then.
    for number in itertools.count():
        started = of("ebs").start_snapshot(
            VolumeSize=-(-raw.stat().st_size // GIB),
            Description=account.name(image),
            Encrypted=True,
            Timeout=TIMEOUT_MINUTES,
            Tags=_listed(tagged),
            ClientToken=token("snapshot", region, tagged["Name"], tagged[DISK], str(number)),
        )["SnapshotId"]
        if _state(of("ec2"), started) == "pending":
            return str(started)
    raise AssertionError


def _state(ec2: Any, snapshot: str) -> str | None:
    try:
        return str(ec2.describe_snapshots(SnapshotIds=[snapshot])["Snapshots"][0]["State"])
    except ClientError as error:
        if error.response["Error"]["Code"] != "InvalidSnapshot.NotFound":
            raise
        return None


def _registered(account: Account, region: str, image: Baked, snapshot: str) -> str:
    tagged = _listed(account.tags(image))
    ebs = {"SnapshotId": snapshot, "VolumeType": "gp3", "DeleteOnTermination": True}
    return str(
        account.of(region)("ec2").register_image(
            Name=account.name(image),
            Description=_description(image),
            Architecture="x86_64",
            VirtualizationType="hvm",
            BootMode="uefi",
            EnaSupport=True,
            # Machines' metadata asks for a token, whatever their launch template forgets.
            ImdsSupport="v2.0",
            RootDeviceName=ROOT_DEVICE,
            BlockDeviceMappings=[{"DeviceName": ROOT_DEVICE, "Ebs": ebs}],
            TagSpecifications=[{"ResourceType": "image", "Tags": tagged}],
        )["ImageId"]
    )


def _copy(account: Account, region: str, home: str, source: str, image: Baked, tell: Tell) -> str:
    with clear_errors(region, GOES_ON):
        (id_, failed), tagged = _there(account, region, image), _listed(account.tags(image))
        if id_ is None:
            id_ = str(
                account.of(region)("ec2").copy_image(
                    Name=account.name(image),
                    Description=_description(image),
                    SourceRegion=home,
                    SourceImageId=source,
                    Encrypted=True,
                    TagSpecifications=[{"ResourceType": kind, "Tags": tagged} for kind in ("image", "snapshot")],
                    ClientToken=token("copy", region, source, failed),
                )["ImageId"]
            )
            tell(f"{region}: copying from {home}")
        _available(account, region, id_, tell)
    return id_


def _available(account: Account, region: str, image: str, tell: Tell) -> None:
    began = time.monotonic()
    _wait(account, region, "image_available", ImageIds=[image])
    tell(f"{region}: {image} is available, {time.monotonic() - began:.0f} s")


def _wait(account: Account, region: str, what: str, **given: Any) -> None:
    config = {"Delay": account.waits.delay_seconds, "MaxAttempts": account.waits.attempts}
    try:
        account.of(region)("ec2").get_waiter(what).wait(**given, WaiterConfig=config)
    except WaiterError as error:
        resource = next(iter(given.values()))[0]
        raise ImageError(f"{region}: {resource} is not {what.replace('_', ' ')}: {error}{GOES_ON}") from None


def _description(image: Baked) -> str:
    driver = f", driver {image.driver}" if image.driver else ""
    return f"{image.base}, kernel {image.kernel}, Kubernetes {image.kubernetes}{driver}"


def _listed(tagged: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tagged.items()]
