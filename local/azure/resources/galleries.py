"""Galleries, their images and the versions of those, with a copy in each target region.

Azure docs, "Store and share images in an Azure Compute Gallery"; compute galleries 2024-03-03. Not here: sharing with
others, soft delete, encryption sets.
"""

import re
from datetime import UTC, datetime
from typing import Any

from .. import ids, regions
from ..compute import disk_access, images, limits, profile, vhd
from ..errors import ArmError, bad_request, conflict
from ..kinds import SLOW, Kind, World, Write
from ..operations import now
from ..store import Resource
from .disks import DISK, SNAPSHOT

NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._]{0,78}[A-Za-z0-9])?")
IMAGE_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,78}[A-Za-z0-9])?")
VERSION_NAME = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,10}")
STORAGE = ("Standard_LRS", "Standard_ZRS", "Premium_LRS")
MOST_REPLICAS = 100
# Of an image: what never changes.
FIXED = ("osType", "osState", "hyperVGeneration", "architecture", "identifier")
ACCOUNT = "Microsoft.Storage/storageAccounts"


def _named(write: Write, form: re.Pattern[str], what: str) -> None:
    if not form.fullmatch(write.id.name):
        raise bad_request(
            "InvalidParameter", f"The {what} name '{write.id.name}' is invalid: it must match {form.pattern}."
        )


def _gallery(write: Write) -> None:
    _named(write, NAME, "gallery")
    write.properties["identifier"] = {"uniqueName": f"{write.id.subscription}-{write.id.name.upper()}"}


def _empty(write: Write) -> None:
    """A gallery or an image with something in it stays."""
    inside = next(write.world.store.children(write.new), None)
    if inside:
        message = (
            f"Cannot delete resource while nested resources exist. Some existing nested resource IDs include: "
            f"'{inside.id.text}'. Please delete all nested resources before deleting this resource."
        )
        raise conflict("CannotDeleteResource", message)


def _image(write: Write) -> None:
    _named(write, IMAGE_NAME, "gallery image")
    properties, old = write.properties, write.old
    properties.setdefault("hyperVGeneration", "V1")
    properties.setdefault("architecture", "x64")
    for name, allowed in {
        "osType": ("Linux", "Windows"),
        "osState": ("Generalized", "Specialized"),
        "hyperVGeneration": ("V1", "V2"),
        "architecture": ("x64", "Arm64"),
    }.items():
        if properties.get(name) not in allowed:
            raise bad_request(
                "InvalidParameter", f"The value '{properties.get(name)}' of parameter '{name}' is invalid."
            )
    identifier = properties.get("identifier") or {}
    for name in ("publisher", "offer", "sku"):
        if not identifier.get(name):
            raise profile.missing(f"identifier.{name}")
    images.check_features(properties)
    _fixed(old, properties, FIXED)
    for other in write.world.store.children(write.world.store.get(write.id.parent), images.IMAGE):  # type: ignore[arg-type]
        if other.id.key != write.id.key and other.properties["identifier"] == identifier:
            message = f"The identifier of gallery image {write.id.name} is that of {other.id.name} already."
            raise conflict("Conflict", message)


def _fixed(old: Resource | None, properties: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in names if old else ():
        assert old
        if properties.get(name) != old.properties.get(name):
            raise conflict(
                "PropertyChangeNotAllowed", f"Changing property 'galleryImage.properties.{name}' is not allowed."
            )


def _version(write: Write) -> None:
    _named(write, VERSION_NAME, "gallery image version")
    properties, old = write.properties, write.old
    publishing = properties.setdefault("publishingProfile", {})
    publishing.setdefault("replicaCount", 1)
    publishing.setdefault("excludeFromLatest", False)
    publishing.setdefault("storageAccountType", "Standard_LRS")
    publishing.setdefault("replicationMode", "Full")
    publishing["publishedDate"] = old.properties["publishingProfile"]["publishedDate"] if old else now()
    if end := publishing.get("endOfLifeDate"):
        _date(end)
    _targets(write, publishing)
    safety = properties.setdefault("safetyProfile", {})
    safety.setdefault("allowDeletionOfReplicatedLocations", True)
    safety.setdefault("blockDeletionBeforeEndOfLife", False)
    safety.setdefault("reportedForPolicyViolation", False)
    properties.pop("replicationStatus", None)
    if old is None:
        _source(write, properties.get("storageProfile") or {})
    else:
        _same_source(old.properties["storageProfile"], properties)


def _date(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        raise bad_request("InvalidParameter", f"The value '{text}' of 'endOfLifeDate' is no date.") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _targets(write: Write, publishing: dict[str, Any]) -> None:
    targets = publishing.setdefault("targetRegions", [{"name": write.new.location}])
    names = [ids.location(str(one.get("name", ""))) for one in targets]
    for one, name in zip(targets, names, strict=True):
        if name not in regions.NAMES or names.count(name) > 1:
            raise bad_request("InvalidParameter", f"The target region '{one.get('name')}' is invalid or there twice.")
        one.setdefault("regionalReplicaCount", publishing["replicaCount"])
        one.setdefault("storageAccountType", publishing["storageAccountType"])
        one.setdefault("excludeFromLatest", False)
        if not 1 <= one["regionalReplicaCount"] <= MOST_REPLICAS or one["storageAccountType"] not in STORAGE:
            raise bad_request("InvalidParameter", f"The target region {one} of {write.id.name} is invalid.")
    if write.new.location not in names:
        message = (
            f"The target regions of gallery image version {write.id.name} lack its own location, {write.new.location}."
        )
        raise bad_request("InvalidParameter", message)


def _source(write: Write, storage: dict[str, Any]) -> None:
    """A disk, a snapshot or a machine, or a blob of an account, and how large its OS disk is. Raises ArmError."""
    whole, disk = storage.get("source") or {}, storage.setdefault("osDiskImage", {})
    source = disk.get("source") or {}
    if id_ := whole.get("virtualMachineId") or whole.get("id") or (not source.get("uri") and source.get("id")):
        found = profile.require(write.world, id_, write.id.text, None, write.new.location)
        size = _size(write, found)
    elif source.get("uri"):
        account = profile.require(write.world, source.get("storageAccountId") or source.get("id") or "", write.id.text)
        if not ids.same(account.id.type, ACCOUNT):
            raise bad_request("InvalidParameter", f"{account.id.text} is no storage account.")
        size = vhd.size_gib(write.world, account, str(source["uri"]))
    else:
        raise profile.missing("storageProfile.source")
    disk.setdefault("hostCaching", "ReadWrite")
    disk["sizeInGB"] = size
    write.properties["storageProfile"] = storage


def _size(write: Write, found: Resource) -> int:
    if found.id.type.lower() == limits.MACHINE.lower():
        disk = found.properties["storageProfile"]["osDisk"]["managedDisk"]["id"]
        return int(write.world.store.get(disk).properties["diskSizeGB"])
    if found.id.type.lower() not in (DISK.lower(), SNAPSHOT.lower(), images.VERSION.lower()):
        raise bad_request("InvalidParameter", f"{found.id.text} is nothing that an image can be made from.")
    if found.id.type.lower() == images.VERSION.lower():
        return int(found.properties["storageProfile"]["osDiskImage"]["sizeInGB"])
    if (state := found.properties.get("diskState")) in disk_access.OPEN:
        raise conflict("OperationNotAllowed", f"Disk {found.id.text} is in state {state}: nothing is made from it.")
    return int(found.properties["diskSizeGB"])


def _same_source(before: dict[str, Any], properties: dict[str, Any]) -> None:
    new = properties.get("storageProfile") or {}
    for member in ("source", "osDiskImage"):
        wanted, is_ = new.get(member) or {}, before.get(member) or {}
        if any(is_.get(name) != value for name, value in wanted.items()):
            raise conflict("PropertyChangeNotAllowed", f"Changing property 'storageProfile.{member}' is not allowed.")
    properties["storageProfile"] = before


def _copied(write: Write) -> None:
    """Its copies are where it is wanted, and no more elsewhere."""
    write.new.state["replicas"] = [ids.location(str(one["name"])) for one in _target_regions(write.new)]


def _target_regions(version: Resource) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = version.properties["publishingProfile"]["targetRegions"]
    return found


def _status(_: World, version: Resource) -> dict[str, Any]:
    done = version.state.get("replicas", ())
    failed = version.properties.get("provisioningState") == "Failed"
    summary = []
    for one in _target_regions(version):
        there = ids.location(str(one["name"])) in done
        state = "Completed" if there else "Failed" if failed else "Replicating"
        summary.append({"region": one["name"], "state": state, "details": "", "progress": 100 if there else 0})
    whole = {one["state"] for one in summary}
    states = {"Completed": "Completed", "Failed": "Failed", "Replicating": "InProgress"}
    aggregated = states["Failed" if "Failed" in whole else "Replicating" if "Replicating" in whole else "Completed"]
    return {"replicationStatus": {"aggregatedState": aggregated, "summary": summary}}


def _removing_version(write: Write) -> None:
    properties = write.properties
    if not properties["safetyProfile"]["blockDeletionBeforeEndOfLife"]:
        return
    end = properties["publishingProfile"].get("endOfLifeDate")
    if end is None or _date(end) > datetime.now(UTC):
        raise _blocked(write, end)


def _blocked(write: Write, end: str | None) -> ArmError:
    message = (
        f"Gallery image version {write.id.text} cannot be deleted before its end of life, {end}: "
        f"safetyProfile.blockDeletionBeforeEndOfLife is true."
    )
    return conflict("OperationNotAllowed", message)


# Machines and disks keep what they were made from; a scale set whose image is gone cannot grow (Azure docs, FAQ).
FREE = frozenset((limits.SET, limits.INSTANCE, limits.MACHINE, DISK, images.VERSION))
KINDS = (
    Kind(images.GALLERY, check=_gallery, removing=_empty, slow=SLOW, free=FREE, untagged=True),
    Kind(images.IMAGE, check=_image, removing=_empty, slow=SLOW, free=FREE, untagged=True),
    Kind(
        images.VERSION,
        check=_version,
        settle=_copied,
        removing=_removing_version,
        slow=SLOW,
        free=FREE,
        untagged=True,
        expands={"replicationstatus": _status},
    ),
)
