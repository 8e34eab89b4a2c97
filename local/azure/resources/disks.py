"""Managed disks and snapshots (Azure docs, "Introduction to Azure managed disks"; compute disks 2024-03-02).

What is in them is kept only of those that were uploaded, and of their copies.
"""

import uuid
from typing import Any

from .. import ids
from ..compute import disk_access, images, limits, profile
from ..errors import bad_request, conflict
from ..kinds import SLOW, Kind, World, Write
from ..operations import now
from ..store import Resource

DISK, SNAPSHOT = "Microsoft.Compute/disks", "Microsoft.Compute/snapshots"
SKUS = (
    *("Standard_LRS", "StandardSSD_LRS", "StandardSSD_ZRS", "Premium_LRS", "Premium_ZRS", "PremiumV2_LRS"),
    "UltraSSD_LRS",
)
SNAPSHOT_SKUS = ("Standard_LRS", "Premium_LRS", "Standard_ZRS")
ZONAL = ("PremiumV2_LRS", "UltraSSD_LRS")  # which must be in a zone where there are zones, and can say their speed
MOST_GIB, MOST_V2_GIB = 32_767, 65_536
COMPUTED = ("uniqueId", "timeCreated", "diskState", "osType", "hyperVGeneration")
GIB = 1024**3
# createOption → the member of creationData that says of what.
SOURCES = {
    "Empty": None,
    "Copy": "sourceResourceId",
    "FromImage": "imageReference",
    "Import": "sourceUri",
    "Upload": "uploadSizeBytes",
}


def _check(write: Write) -> None:
    body, properties, old = write.new.body, write.properties, write.old
    sku = body.setdefault("sku", dict(old.body["sku"]) if old else {"name": "Standard_LRS"})
    sku["tier"] = _sku(str(sku.get("name")), SKUS).partition("_")[0].removesuffix("SSD")
    body.pop("managedBy", None)
    if old:
        _fixed(write, old)
        if old.body.get("managedBy"):
            body["managedBy"] = old.body["managedBy"]
    else:
        properties.update({"uniqueId": str(uuid.uuid4()), "timeCreated": now(), "diskState": "Unattached"})
    _zone(body, write.new.location)
    size = _created(write, properties.get("creationData") or {}, SOURCES)
    _size(write, size, MOST_V2_GIB if sku["name"] in ZONAL else MOST_GIB)
    speeds = [name for name in ("diskIOPSReadWrite", "diskMBpsReadWrite") if name in properties]
    if speeds and sku["name"] not in ZONAL and old is None:
        message = f"The property {speeds[0]} can be set only on disks of {' and '.join(ZONAL)}."
        raise bad_request("InvalidParameter", message)
    properties.setdefault("encryption", {"type": "EncryptionAtRestWithPlatformKey"})
    properties.setdefault("networkAccessPolicy", "AllowAll")
    properties.setdefault("publicNetworkAccess", "Enabled")


def _sku(name: str, known: tuple[str, ...]) -> str:
    if name not in known:
        raise bad_request(
            "InvalidParameter", f"The value '{name}' of parameter 'sku.name' is none of {', '.join(known)}."
        )
    return name


def _fixed(write: Write, old: Resource) -> None:
    properties = write.properties
    properties.update({name: old.properties[name] for name in COMPUTED if name in old.properties})
    properties.setdefault("creationData", old.properties["creationData"])
    for name, before in old.properties["creationData"].items():
        if properties["creationData"].setdefault(name, before) != before:
            raise conflict("PropertyChangeNotAllowed", f"Changing property 'creationData.{name}' is not allowed.")
    if (write.new.body.get("zones") or []) != (old.body.get("zones") or []):
        raise conflict("PropertyChangeNotAllowed", "Changing property 'zones' is not allowed.")
    if write.new.body["sku"]["name"] != old.body["sku"]["name"] and old.body.get("managedBy"):
        message = f"Cannot change the sku of disk {write.id.name} while it is attached to {old.body['managedBy']}."
        raise conflict("OperationNotAllowed", message)


def _zone(body: dict[str, Any], location: str) -> None:
    zones, name = body.get("zones") or [], body["sku"]["name"]
    profile.check_zones(zones, location)
    if len(zones) > 1 or (zones and name.endswith("_ZRS")):
        raise bad_request("InvalidParameter", f"A disk of {name} cannot be in the zones {zones}.")
    if name in ZONAL and not zones:
        raise bad_request("InvalidParameter", f"A disk of {name} must be in an availability zone.")


def _created(write: Write, creation: dict[str, Any], sources: dict[str, str | None]) -> int:
    """Of what it is made. Gives the size in GiB that it has by that, 0 for none. Raises ArmError."""
    option = creation.get("createOption")
    if option not in sources:
        raise bad_request(
            "InvalidParameter", f"The value '{option}' of parameter 'creationData.createOption' is invalid."
        )
    source = sources[option]
    if source and not creation.get(source) and not (option == "FromImage" and creation.get("galleryImageReference")):
        raise profile.missing(f"creationData.{source}")
    if write.old is not None:
        return 0
    match option:
        case "Copy":
            return _copied(write, str(creation["sourceResourceId"]))
        case "FromImage":
            return _of_image(write, creation.get("galleryImageReference") or creation["imageReference"])
        case "Import":
            profile.require(write.world, creation.get("storageAccountId", ""), write.id.text)
        case "Upload":
            return disk_access.prepare(write, int(creation["uploadSizeBytes"]))
    return 0


def _copied(write: Write, id_: str) -> int:
    source = profile.require(write.world, id_, write.id.text, None, write.new.location)
    if source.id.type.lower() not in (DISK.lower(), SNAPSHOT.lower()):
        raise bad_request("InvalidParameter", f"{source.id.text} is no disk or snapshot to copy.")
    if source.properties.get("diskState") in disk_access.OPEN:
        raise conflict("OperationNotAllowed", f"{source.id.text} is in state {source.properties['diskState']}.")
    if "contents" in source.state:
        write.new.state["contents"] = source.state["contents"]
    for name in ("osType", "hyperVGeneration"):
        if name in source.properties:
            write.properties.setdefault(name, source.properties[name])
    return int(source.properties["diskSizeGB"])


def _of_image(write: Write, reference: dict[str, Any]) -> int:
    found = images.resolve(write.world, reference, write.new.location)
    write.properties.setdefault("osType", "Linux")
    return images.size_gib(write.world, found, write.new.location)


def _size(write: Write, least: int, most: int) -> None:
    properties, old = write.properties, write.old
    size = properties.get("diskSizeGB", old.properties["diskSizeGB"] if old else least)
    if not isinstance(size, int) or not 1 <= size <= most:
        raise bad_request("InvalidParameter", f"The value '{size}' of parameter 'diskSizeGB' is not from 1 to {most}.")
    before = old.properties["diskSizeGB"] if old else least
    if size < before:
        message = f"The new size {size} GiB of disk {write.id.name} is below {before} GiB: a disk never shrinks."
        raise bad_request("ResizeDiskError", message)
    if (
        old
        and size > before
        and properties.get("osType")
        and (user := attached_to(write.world, old))
        and limits.holds(user)
    ):
        message = f"Cannot resize disk {write.id.name} while it is the OS disk of running VM {user.id.text}."
        raise conflict("OperationNotAllowed", message)
    properties["diskSizeGB"], properties["diskSizeBytes"] = size, size * GIB


def attached_to(world: World, disk: Resource) -> Resource | None:
    """The machine that has it."""
    return world.store.find(str(disk.body["managedBy"])) if disk.body.get("managedBy") else None


def attach(disk: Resource, machine: Resource | None) -> None:
    """To a machine, or to none."""
    if machine is None:
        disk.body.pop("managedBy", None)
        disk.properties["diskState"] = "Unattached"
    else:
        disk.body["managedBy"], disk.properties["diskState"] = machine.id.text, "Attached"
    disk.changed()


def make(
    world: World, machine: Resource, disk_profile: dict[str, Any], creation: dict[str, Any], size: int
) -> Resource:
    """A disk that comes with a machine: its OS disk, or an empty one that it asks for. Raises ArmError."""
    name = disk_profile["name"]
    scope = machine.id.text[: machine.id.text.lower().index("/providers/")]
    id_ = ids.parse(f"{scope}/providers/{DISK}/{name}")
    if world.store.find(id_):
        raise conflict("ConflictingUserInput", f"A disk with name {name} already exists: it cannot be made for a VM.")
    kind = (disk_profile.get("managedDisk") or {}).get("storageAccountType", "Premium_LRS")
    body: dict[str, Any] = {"location": machine.location, "sku": {"name": kind}}
    if machine.body.get("zones") and not kind.endswith("_ZRS"):
        body["zones"] = list(machine.body["zones"])
    body["properties"] = {"creationData": creation, "diskSizeGB": disk_profile.get("diskSizeGB") or size}
    disk = Resource(id_, body)
    _check(Write(world, disk, None, {}))
    disk.properties["provisioningState"] = "Succeeded"
    return disk


def _state(world: World, disk: Resource) -> dict[str, Any]:
    machine = attached_to(world, disk)
    return {"diskState": "Reserved"} if machine and machine.state.get("power") == "deallocated" else {}


def _removing(write: Write) -> None:
    if machine := attached_to(write.world, write.new):
        message = f"Disk {write.id.name} is attached to VM {machine.id.text}."
        raise conflict("OperationNotAllowed", message)
    disk_access.refuse_open(write.new)
    for user in write.world.store.users(write.new):
        if ids.same(user.id.type, images.VERSION) and user.properties.get("provisioningState") == "Creating":
            message = f"{write.new.id.text} is being copied to {user.id.text}."
            raise conflict("OperationNotAllowed", message)


def _check_snapshot(write: Write) -> None:
    properties, old = write.properties, write.old
    sku = write.new.body.setdefault("sku", dict(old.body["sku"]) if old else {"name": "Standard_LRS"})
    sku["tier"] = _sku(str(sku.get("name")), SNAPSHOT_SKUS).partition("_")[0]
    if old:
        _fixed(write, old)
    else:
        properties.update({"uniqueId": str(uuid.uuid4()), "timeCreated": now(), "diskState": "Unattached"})
    size = _created(write, properties.get("creationData") or {}, {"Copy": "sourceResourceId", "Import": "sourceUri"})
    _size(write, size, MOST_V2_GIB)
    properties.setdefault("incremental", False)
    properties.setdefault("encryption", {"type": "EncryptionAtRestWithPlatformKey"})


# What was made of a disk does not need it any more; a machine's own is judged by `_removing`.
FREE = frozenset((DISK, SNAPSHOT, images.VERSION, limits.MACHINE))
ACCESS = {"beginGetAccess": disk_access.begin, "endGetAccess": disk_access.end}
KINDS = (
    Kind(
        DISK,
        check=_check,
        removing=_removing,
        computed=_state,
        actions=ACCESS,
        slow=SLOW,
        free=FREE,
        statuses=(202, 202),
        untagged=True,
    ),
    Kind(
        SNAPSHOT,
        check=_check_snapshot,
        removing=_removing,
        actions=ACCESS,
        slow=SLOW,
        free=FREE,
        statuses=(202, 202),
        untagged=True,
    ),
)
