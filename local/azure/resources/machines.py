"""Virtual machines that stand alone, with disks, interfaces and identities of their own.

Azure docs, "Virtual machines in Azure"; compute 2024-11-01. What the local Azure does not do of it is refused.
"""

import copy
import uuid
from typing import Any

from ..compute import events, limits, power, profile, sizes
from ..errors import bad_request, conflict
from ..kinds import SLOW, Kind, Later, World, Write
from ..lives import drop
from ..operations import now
from ..store import Resource
from . import machine_disks
from .interfaces import INTERFACE

MACHINE = limits.MACHINE
NOT_HONOURED = ("availabilitySet", "virtualMachineScaleSet", "proximityPlacementGroup", "host", "networkInterfaceTags")
COMPUTED = ("vmId", "timeCreated")
# What never changes after it is made: dotted paths, and those that may be left out of a later PUT.
FIXED = ("osProfile.adminUsername", "osProfile.computerName", "priority", "storageProfile.imageReference")
ONCE = ("osProfile.customData", "osProfile.adminPassword", "osProfile.linuxConfiguration")


def _check(write: Write) -> None:
    body, properties, old = write.new.body, write.properties, write.old
    for member in NOT_HONOURED:
        if properties.get(member):
            raise profile.not_honoured(member)
    properties.pop("instanceView", None)
    size = _size(write, properties)
    profile.check_zones(body.get("zones"), write.new.location)
    if len(body.get("zones") or ()) > 1:
        raise bad_request("InvalidParameter", f"VM {write.id.name} can be in one zone, not in {body['zones']}.")
    if old is None:
        properties.update({"vmId": str(uuid.uuid4()), "timeCreated": now()})
    else:
        properties.update({name: old.properties[name] for name in COMPUTED})
        _fixed(write, old)
    storage = properties.setdefault("storageProfile", {})
    if properties.get("osProfile"):
        properties["osProfile"].setdefault("computerName", write.id.name)
    elif (storage.get("osDisk") or {}).get("createOption") != "Attach":
        raise profile.missing("osProfile")
    resolved = profile.check(write.world, properties, write.new.location, write.id.text, image=old is None)
    if old is None and resolved:
        storage["imageReference"] = resolved
    elif old and old.properties["storageProfile"].get("imageReference"):
        storage["imageReference"] = old.properties["storageProfile"]["imageReference"]
    machine_disks.check(write, size, resolved)
    _interfaces(write)
    _quota(write, size)


def _quota(write: Write, size: sizes.Size) -> None:
    spot = profile.is_spot(write.properties)
    if write.old is None or limits.hardware(write.old).size != size.name:
        limits.require_quota(write.world, write.new.location, write.id.subscription, size, 1, spot=spot)
    if write.old is None:
        write.new.state.update({"priority": "Spot" if spot else "Regular", "power": "starting"})


def _size(write: Write, properties: dict[str, Any]) -> sizes.Size:
    hardware = properties.setdefault("hardwareProfile", {})
    if not hardware.get("vmSize"):
        raise profile.missing("hardwareProfile.vmSize")
    size = limits.require_size(str(hardware["vmSize"]), write.new.location)
    hardware["vmSize"] = size.name
    return size


def _at(properties: dict[str, Any], path: str) -> Any:
    found: Any = properties
    for name in path.split("."):
        found = (found or {}).get(name)
    return found


def _fixed(write: Write, old: Resource) -> None:
    if (write.new.body.get("zones") or []) != (old.body.get("zones") or []):
        raise conflict("PropertyChangeNotAllowed", "Changing property 'zones' is not allowed.")
    for path in (*FIXED, *ONCE):
        before, after = _at(old.properties, path), _at(write.properties, path)
        if isinstance(before, dict) and isinstance(after, dict):
            after = {**before, **after}
        if after is not None and after != before:
            raise conflict("PropertyChangeNotAllowed", f"Changing property '{path}' is not allowed.")
    for member in ("osProfile", "priority", "evictionPolicy", "billingProfile"):
        if old.properties.get(member) is None:
            continue
        if isinstance(old.properties[member], dict):
            write.properties[member] = {**copy.deepcopy(old.properties[member]), **(write.properties.get(member) or {})}
        else:
            write.properties.setdefault(member, old.properties[member])


def _interfaces(write: Write) -> None:
    """They are there, of the same network, and nobody else's. Raises ArmError."""
    network = write.properties.setdefault("networkProfile", {})
    if network.get("networkInterfaceConfigurations"):
        raise profile.not_honoured("networkInterfaceConfigurations")
    listed = network.get("networkInterfaces") or []
    if not listed:
        raise profile.missing("networkProfile.networkInterfaces")
    primaries = sum(bool((one.get("properties") or {}).get("primary")) for one in listed)
    if len(listed) > 1 and primaries != 1:
        raise bad_request(
            "VirtualMachineMustHaveOneNetworkInterfaceAsPrimary", f"{write.id.name} has {primaries} primary."
        )
    for one in listed:
        found = profile.require(write.world, str(one.get("id", "")), write.id.text, INTERFACE, write.new.location)
        for user in write.world.store.users(found):
            if user.id.type == MACHINE and user.id.key != write.id.key:
                message = f"Network Interface {found.id.text} is used by existing resource {user.id.text}."
                raise bad_request("NicInUse", message)
    if write.old and limits.holds(write.old):
        before = {one["id"].lower() for one in write.old.properties["networkProfile"]["networkInterfaces"]}
        if before != {str(one["id"]).lower() for one in listed}:
            code = "AddingOrDeletingNetworkInterfacesOnARunningVirtualMachineNotAllowed"
            raise conflict(code, f"Interfaces of {write.id.name} can change only while it is deallocated.")


def _begun(write: Write) -> None:
    machine_disks.take(write)
    for reference in write.properties["networkProfile"]["networkInterfaces"]:
        reference["id"] = write.world.store.get(str(reference["id"])).id.text


def _settle(write: Write) -> None:
    machine = write.new
    if machine.state["power"] not in ("starting", "none"):
        return
    room, wanted = limits.Room(write.world), limits.hardware(machine)
    if limits.holds(machine):
        room.give(wanted)  # it is counted as if it had it already
    if limit := room.take(wanted):
        failed = limits.failure(limit, wanted.size, machine.location)
        machine.state.update({"power": "none", "failure": failed.as_json()})
        raise failed
    machine.state.pop("failure", None)
    machine.state.update({"power": "running", "settled": now()})


def _failed(write: Write) -> None:
    if write.new.state["power"] == "starting":
        write.new.state["power"] = "none"


def _removed(write: Write) -> None:
    """What is to go with it goes; the rest is free again."""
    machine_disks.leave(write.world, write.new)
    for reference in write.properties["networkProfile"].get("networkInterfaces") or ():
        found = write.world.store.find(reference["id"])
        if found and (reference.get("properties") or {}).get("deleteOption") == "Delete":
            write.world.store.drop(found)


def _power(action: str) -> Any:
    def act(write: Write) -> Later:
        return Later(lambda: power.act(write.world, [write.new], action))

    return act


def evict(world: World, machine: Resource) -> None:
    """Takes a spot machine's hardware away, by its policy. Raises ArmError."""
    if machine.state.get("priority") != "Spot":
        raise conflict("OperationNotAllowed", f"{machine.id.text} is no Azure Spot Virtual Machine.")
    if machine.properties.get("evictionPolicy") == "Delete":
        drop(Write(world, machine, machine, {}), world.kind(machine.id))
    else:
        machine.state["power"] = "deallocated"
        machine.changed()


def _simulate_eviction(write: Write) -> None:
    events.evict(write.world, write.new)


ACTIONS = {name: _power(name) for name in ("start", "powerOff", "deallocate", "restart", "redeploy")}
KINDS = (
    Kind(
        MACHINE,
        check=_check,
        begun=_begun,
        settle=_settle,
        failed=_failed,
        removed=_removed,
        actions={**ACTIONS, "simulateEviction": _simulate_eviction},
        hidden=profile.HIDDEN,
        slow=SLOW,
        expands={"instanceview": power.expanded},
        evict=evict,
    ),
)
