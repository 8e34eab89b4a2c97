"""The disks of a machine that stands alone: made with it or attached to it, and what becomes of them after it."""

import copy
from typing import Any

from .. import ids
from ..compute import images, profile, sizes
from ..errors import bad_request, conflict
from ..kinds import World, Write
from ..store import Resource
from . import disks

MOST_LUN = 63
OPTIONS = ("Delete", "Detach")


def check(write: Write, size: sizes.Size, resolved: dict[str, Any]) -> None:
    """Refuses what Azure refuses, and makes ready in `write.new.state["made"]` the disks that come with it. Raises."""
    storage, made = write.properties["storageProfile"], []
    os = storage.setdefault("osDisk", {})
    before = write.old.properties["storageProfile"] if write.old else {}
    if write.old:
        _same_os_disk(os, before["osDisk"])
    else:
        made += _os_disk(write, os, resolved)
    listed = storage.setdefault("dataDisks", copy.deepcopy(before.get("dataDisks") or []))
    if len(listed) > size.disks:
        message = (
            f"The maximum number of data disks allowed to be attached to a VM of size {size.name} is {size.disks}."
        )
        raise conflict("OperationNotAllowed", message)
    luns: set[int] = set()
    for one in listed:
        lun = one.get("lun")
        if not isinstance(lun, int) or not 0 <= lun <= MOST_LUN or lun in luns:
            raise bad_request(
                "InvalidParameter", f"The LUN {lun!r} of a data disk is not from 0 to {MOST_LUN}, or twice."
            )
        luns.add(lun)
        made += _data_disk(write, one, before.get("dataDisks") or [])
    write.new.state["made"] = made


def _same_os_disk(os: dict[str, Any], before: dict[str, Any]) -> None:
    id_ = (os.get("managedDisk") or {}).get("id")
    if (id_ and not ids.same(id_, before["managedDisk"]["id"])) or os.get("name", before["name"]) != before["name"]:
        raise conflict("PropertyChangeNotAllowed", "Changing property 'osDisk.managedDisk.id' is not allowed.")
    for name, value in before.items():
        os.setdefault(name, value)
    os["managedDisk"] = {**before["managedDisk"], **(os["managedDisk"] or {}), "id": before["managedDisk"]["id"]}


def _os_disk(write: Write, os: dict[str, Any], resolved: dict[str, Any]) -> list[Resource]:
    _option(os)
    os.setdefault("osType", "Linux")
    os.setdefault("caching", "ReadWrite")
    if os.get("createOption") == "Attach":
        _attach(write, os)
        return []
    if os.get("createOption") != "FromImage" or not resolved:
        raise bad_request("InvalidParameter", "An OS disk is made FromImage, of an imageReference, or it is to Attach.")
    os.setdefault("name", f"{write.id.name}_OsDisk_1_{write.properties['vmId'].replace('-', '')}")
    creation = {"createOption": "FromImage", **images.disk_reference(write.world, resolved, write.new.location)}
    size = images.size_gib(write.world, resolved, write.new.location)
    if os.get("diskSizeGB", size) < size:
        message = f"The specified disk size {os['diskSizeGB']} GB is smaller than the size of the image, {size} GB."
        raise conflict("OperationNotAllowed", message)
    if (os.get("managedDisk") or {}).get("storageAccountType") in disks.ZONAL:
        raise bad_request("InvalidParameter", f"No OS disk can be of {' or '.join(disks.ZONAL)}.")
    made = disks.make(write.world, write.new, os, creation, size)
    made.properties["osType"] = os["osType"]
    _name(os, made)
    return [made]


def _data_disk(write: Write, one: dict[str, Any], before: list[dict[str, Any]]) -> list[Resource]:
    """Keeps one that it has, attaches one that is there, or makes an empty one."""
    _option(one)
    one.pop("toBeDetached", None)
    had = next((old for old in before if old["lun"] == one["lun"]), None)
    id_ = (one.get("managedDisk") or {}).get("id")
    if had and (not id_ or ids.same(id_, had["managedDisk"]["id"])) and one.get("name", had["name"]) == had["name"]:
        for name, value in had.items():
            one.setdefault(name, value)
        one["managedDisk"] = {**had["managedDisk"], **one["managedDisk"], "id": had["managedDisk"]["id"]}
        return []
    match one.get("createOption"):
        case "Attach":
            _attach(write, one)
            return []
        case "Empty":
            if not one.get("diskSizeGB"):
                raise profile.missing("dataDisks.diskSizeGB")
            one.setdefault("name", f"{write.id.name}_DataDisk_{one['lun']}")
            made = disks.make(write.world, write.new, one, {"createOption": "Empty"}, one["diskSizeGB"])
            _name(one, made)
            return [made]
    raise bad_request(
        "InvalidParameter", f"The createOption {one.get('createOption')!r} of a data disk is not done here."
    )


def _option(one: dict[str, Any]) -> None:
    one.setdefault("deleteOption", "Detach")
    if one["deleteOption"] not in OPTIONS:
        raise bad_request("InvalidParameter", f"The value '{one['deleteOption']}' of 'deleteOption' is invalid.")


def _name(one: dict[str, Any], disk: Resource) -> None:
    managed = {**(one.get("managedDisk") or {}), "id": disk.id.text, "storageAccountType": disk.body["sku"]["name"]}
    one.update({"name": disk.id.name, "diskSizeGB": disk.properties["diskSizeGB"], "managedDisk": managed})


def _attach(write: Write, one: dict[str, Any]) -> None:
    id_ = (one.get("managedDisk") or {}).get("id")
    if not id_:
        raise profile.missing("managedDisk.id")
    disk = profile.require(write.world, id_, write.id.text, disks.DISK, write.new.location)
    owner = disk.body.get("managedBy")
    if owner and not ids.same(owner, write.id.text):
        message = f"Disk '{disk.id.text}' cannot be attached as the disk is already owned by VM '{owner}'."
        raise conflict("ConflictingUserInput", message)
    mine, its = write.new.body.get("zones") or [], disk.body.get("zones") or []
    if its and its != mine:
        message = (
            f"Disk {disk.id.text} cannot be attached to the VM because it is in zone '{its[0]}' and the VM in "
            f"{mine or 'none'}."
        )
        raise bad_request("BadRequest", message)
    if mine and not its and not disk.body["sku"]["name"].endswith("_ZRS"):
        message = f"Disk {disk.id.text} cannot be attached to a VM in a zone because it is not zonal."
        raise bad_request("BadRequest", message)
    if disk.body["sku"]["name"] in disks.ZONAL and one.setdefault("caching", "None") != "None":
        raise bad_request(
            "InvalidParameter", f"Disk {disk.id.name} of {disk.body['sku']['name']} takes no host caching."
        )
    if disk.properties["diskState"] in ("ReadyToUpload", "ActiveUpload", "ActiveSAS"):
        message = f"Disk {disk.id.name} is in state {disk.properties['diskState']} and cannot be attached."
        raise conflict("OperationNotAllowed", message)
    _name(one, disk)


def all_of(machine: Resource) -> list[dict[str, Any]]:
    """Its disks as its storage profile has them, the OS disk first."""
    storage = machine.properties["storageProfile"]
    return [storage["osDisk"], *storage.get("dataDisks", ())]


def take(write: Write) -> None:
    """Its disks are its own from now on; those that it has no more are free."""
    for one in write.new.state.pop("made", ()):
        write.world.store.put(one)
    have = {one["managedDisk"]["id"].lower() for one in all_of(write.new)}
    for one in all_of(write.old) if write.old else ():
        gone = write.world.store.find(one["managedDisk"]["id"])
        if gone and gone.id.key not in have:
            disks.attach(gone, None)
    for id_ in have:
        disks.attach(write.world.store.get(id_), write.new)


def leave(world: World, machine: Resource) -> None:
    """The machine is gone: by their deleteOption, disks go too or are free."""
    for one in all_of(machine):
        disk = world.store.find(one["managedDisk"]["id"])
        if disk is None:
            continue
        if one.get("deleteOption") == "Delete":
            world.store.drop(disk)
        else:
            disks.attach(disk, None)
