"""An image into a fleet's gallery: disk, version, copies. Each step finds what a run before it has left.

A disk is found by the image's name, a version by the bake's digest. What a run that was killed leaves are a disk that
waits for its pages, or a version that no channel names. Azure docs, "Upload a VHD to Azure", "Store and share images in
an Azure Compute Gallery".
"""

import time
from pathlib import Path
from typing import Any

from azure.core.exceptions import ResourceNotFoundError

from fleet.azure import images as names

from ... import baked
from ...baked import Baked
from ...errors import ImageError
from ..blocks import BLOCK_BYTES, Journal, sent
from ..publishing import FLEET, GOES_ON, refuse_other
from ..store import Tell
from .account import Account
from .calls import BUSY, clear_errors, replicas, state, targets

# How long an address of a disk's bytes holds; a run that takes longer begins again, and asks for another.
ADDRESS_SECONDS = 12 * 3600
UPLOADING, READY, WHOLE = "ActiveUpload", "ReadyToUpload", "Unattached"
# What machines of an image can have: two network paths and both kinds of disks' controllers, and a TPM. Secure Boot is
# the machine's to ask for, and our boot loader is signed by nobody.
FEATURES = {
    "SecurityType": "TrustedLaunchSupported",
    "IsAcceleratedNetworkSupported": "True",
    "DiskControllerTypes": "SCSI, NVMe",
}


def publish(account: Account, folder: Path, image: Baked, tell: Tell) -> dict[str, str]:
    """Region → the version's id, once it has a copy in all of them. Raises ImageError."""
    vhd = baked.verified(folder, image, "vhd")
    definition, version = names.definition(image.kubernetes, image.variant), names.version(image.digest)
    with clear_errors(account.places[0], GOES_ON):
        home, began = gallery(account, image.variant, image.kubernetes), time.monotonic()
        one = _there(account, definition, version, image)
        if one is None:
            disk = _disk(account, home, image, vhd, tell)
            _made(account, home, image, disk)
            one = _settled(account, definition, version, tell)
        one = _everywhere(account, definition, version, one, tell)
        _gone(account, image)
    tell(f"{', '.join(account.places)}: {version} of {definition} is there, {time.monotonic() - began:.0f} s")
    return dict.fromkeys(account.places, account.id(definition, version))


def gallery(account: Account, variant: str, kubernetes: str) -> str:
    """The region of the gallery, which is made where there is none, with an image for these. Raises AzureError."""
    compute, fleet_tags = account.clients.compute, {FLEET: account.fleet}
    try:
        home = str(compute.galleries.get(account.group, account.gallery).location)
    except ResourceNotFoundError:
        home = account.places[0]
        account.clients.resources.resource_groups.create_or_update(
            account.group, {"location": home, "tags": fleet_tags}
        )
        told_ = {
            "location": home,
            "tags": fleet_tags,
            "properties": {"description": f"Node images of fleet {account.fleet}"},
        }
        compute.galleries.begin_create_or_update(account.group, account.gallery, told_).result()
    definition = names.definition(kubernetes, variant)
    try:
        compute.gallery_images.get(account.group, account.gallery, definition)
    except ResourceNotFoundError:
        properties = {
            "osType": "Linux",
            "osState": "Generalized",
            "hyperVGeneration": "V2",
            "architecture": "x64",
            "identifier": {"publisher": account.fleet, "offer": variant, "sku": kubernetes},
            "features": [{"name": name, "value": value} for name, value in FEATURES.items()],
        }
        body = {"location": home, "tags": fleet_tags, "properties": properties}
        compute.gallery_images.begin_create_or_update(account.group, account.gallery, definition, body).result()
    return home


def _there(account: Account, definition: str, version: str, image: Baked) -> Any | None:
    """The version of this name, whole or on its way. Raises ImageError for another that took the name."""
    one = account.version(definition, version)
    if one is None:
        return None
    found_tags = one.tags or {}
    refuse_other(
        found_tags, image, "vhd", f"Gallery {account.gallery} has another image with the name {definition}/{version}"
    )
    if state(one) == "Failed" and "Completed" not in replicas(one).values():
        at = (account.group, account.gallery, definition, version)
        account.clients.compute.gallery_image_versions.begin_delete(*at).result()
        return None
    for place in account.places:
        if any(names.tag(step, place) in found_tags for step in (names.DEPRECATED, names.DISABLED)):
            account.unmark(place, account.id(definition, version))
    return one


def _disk(account: Account, home: str, image: Baked, vhd: Path, tell: Tell) -> str:
    """The id of a disk with all of the VHD in it."""
    disks, name, began = account.clients.compute.disks, disk_name(image), time.monotonic()
    disk = _waiting(account, home, image, vhd)
    journal = Journal(account.journals / f"{disk.unique_id}.blocks")
    if _of(disk) != READY:
        tell(f"{home}: {name} goes on, {len(journal.there)} blocks are there")
    if _of(disk) == WHOLE:
        return str(disk.id)
    given = {"access": "Write", "durationInSeconds": ADDRESS_SECONDS}
    pages = account.clients.pages(str(disks.begin_grant_access(account.group, name, given).result().access_sas))
    size = vhd.stat().st_size

    def put(index: int, data: bytes, _: bytes) -> None:
        at = index * BLOCK_BYTES
        length = min(BLOCK_BYTES, size - at)
        pages.upload_page(data[:length], at, length, validate_content=True)

    count, _ = sent(put, vhd, journal, lambda text: tell(f"{home}: {text}"))
    disks.begin_revoke_access(account.group, name).result()
    tell(f"{home}: {count} blocks put, {time.monotonic() - began:.0f} s")
    return str(disk.id)


def _waiting(account: Account, home: str, image: Baked, vhd: Path) -> Any:
    """The image's disk, made where there is none, and made anew where what is in it can't be known."""
    disks, name = account.clients.compute.disks, disk_name(image)
    try:
        disk = disks.get(account.group, name)
    except ResourceNotFoundError:
        disk = None
    # Somebody may have ended its upload too early: a journal alone knows whether anything is missing.
    if disk is not None and _of(disk) == WHOLE and not _journaled(account, disk, vhd):
        disks.begin_delete(account.group, name).result()
        disk = None
    if disk is None:
        properties = {
            "creationData": {"createOption": "Upload", "uploadSizeBytes": vhd.stat().st_size},
            "osType": "Linux",
            "hyperVGeneration": "V2",
        }
        body = {
            "location": home,
            "sku": {"name": "Standard_LRS"},
            "tags": account.tags(image),
            "properties": properties,
        }
        disk = disks.begin_create_or_update(account.group, name, body).result()
    return disk


def _journaled(account: Account, disk: Any, vhd: Path) -> bool:
    """Whether all blocks of the VHD have arrived in it."""
    journal = Journal(account.journals / f"{disk.unique_id}.blocks")
    try:
        sent(_refused, vhd, journal, lambda _: None)
    except LookupError:
        return False
    finally:
        journal.stream.close()
    return True


def _refused(index: int, _: bytes, __: bytes) -> None:
    raise LookupError(index)


def _of(disk: Any) -> str:
    return str(getattr(disk.disk_state, "value", disk.disk_state))


def disk_name(image: Baked) -> str:
    """Azure takes no dots."""
    return f"publish-{image.name.replace('.', '_')}"


def _made(account: Account, home: str, image: Baked, disk: str) -> None:
    regions = list(dict.fromkeys((home, *account.places)))
    body = {
        "location": home,
        "tags": account.tags(image),
        "properties": {
            "publishingProfile": {"targetRegions": [target(name) for name in regions], "excludeFromLatest": True},
            "storageProfile": {"osDiskImage": {"source": {"id": disk}}},
        },
    }
    at = (
        account.group,
        account.gallery,
        names.definition(image.kubernetes, image.variant),
        names.version(image.digest),
    )
    account.clients.compute.gallery_image_versions.begin_create_or_update(*at, body, polling=False)


def target(region: str) -> dict[str, Any]:
    """A region that a version is to be in, without ever being its `latest`."""
    return {"name": region, "regionalReplicaCount": 1, "storageAccountType": "Standard_LRS", "excludeFromLatest": True}


def _everywhere(account: Account, definition: str, version: str, one: Any, tell: Tell) -> Any:
    """With a copy in all of the account's regions: those that lack one, or whose copying failed, get it now."""
    if state(one) in BUSY:
        one = _settled(account, definition, version, tell)
    there = targets(one)
    lacking = [place for place in account.places if place not in there]
    if lacking or state(one) == "Failed":
        wanted = [*there.values(), *(target(place) for place in lacking)]
        at = (account.group, account.gallery, definition, version)
        change = {"properties": {"publishingProfile": {"targetRegions": wanted}}}
        account.clients.compute.gallery_image_versions.begin_update(*at, change, polling=False)
        one = _settled(account, definition, version, tell)
    if state(one) != "Succeeded":
        failed = ", ".join(place for place, replica in replicas(one).items() if replica == "Failed") or "no region"
        raise ImageError(f"{failed}: copying {version} of {definition} has failed{GOES_ON}")
    return one


def _settled(account: Account, definition: str, version: str, tell: Tell) -> Any:
    """Once it is over. Raises ImageError where that takes too long."""
    known: dict[str, str] = {}
    for _ in range(account.waits.attempts):
        one = account.version(definition, version)
        if one is None or state(one) not in BUSY:
            break
        now = dict(replicas(one))
        for place in sorted(place for place, replica in now.items() if replica != known.get(place)):
            tell(f"{place}: {now[place]}")
        known = now
        time.sleep(account.waits.delay_seconds)
    else:
        raise ImageError(f"{version} of {definition} is still being copied{GOES_ON}")
    if one is None:
        raise ImageError(f"{version} of {definition} is gone: somebody took it away{GOES_ON}")
    return one


def _gone(account: Account, image: Baked) -> None:
    """The disk and its journal: the version has all that was in it."""
    disks, name = account.clients.compute.disks, disk_name(image)
    try:
        disk = disks.get(account.group, name)
        disks.begin_delete(account.group, name).result()
    except ResourceNotFoundError:
        return
    (account.journals / f"{disk.unique_id}.blocks").unlink(missing_ok=True)
