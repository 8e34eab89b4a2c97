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


def _check(turn: Write) -> None:
    body, properties, old = turn.new.body, turn.properties, turn.old
    for member in NOT_HONOURED:
        if properties.get(member):
            raise profile.not_honoured(member)
    properties.pop("instanceView", None)
    size = _size(turn, properties)
    profile.check_zones(body.get("zones"), turn.new.location)
    if len(body.get("zones") or ()) > 1:
        raise bad_request("InvalidParameter", f"VM {turn.id.name} can be in one zone, not in {body['zones']}.")
    if old is None:
        properties.update({"vmId": str(uuid.uuid4()), "timeCreated": now()})
    else:
        properties.update({name: old.properties[name] for name in COMPUTED})
        _fixed(turn, old)
    storage = properties.setdefault("storageProfile", {})
    if properties.get("osProfile"):
        properties["osProfile"].setdefault("computerName", turn.id.name)
    elif (storage.get("osDisk") or {}).get("createOption") != "Attach":
        raise profile.missing("osProfile")
    resolved = profile.check(turn.world, properties, turn.new.location, turn.id.text, image=old is None)
    if old is None and resolved:
        storage["imageReference"] = resolved
    elif old and old.properties["storageProfile"].get("imageReference"):
        storage["imageReference"] = old.properties["storageProfile"]["imageReference"]
    machine_disks.check(turn, size, resolved)
    _interfaces(turn)
    _quota(turn, size)


def _quota(turn: Write, size: sizes.Size) -> None:
    spot = profile.is_spot(turn.properties)
    if turn.old is None or limits.hardware(turn.old).size != size.name:
        limits.require_quota(turn.world, turn.new.location, turn.id.subscription, size, 1, spot=spot)
    if turn.old is None:
        turn.new.state.update({"priority": "Spot" if spot else "Regular", "power": "starting"})


def _size(turn: Write, properties: dict[str, Any]) -> sizes.Size:
    hardware = properties.setdefault("hardwareProfile", {})
    if not hardware.get("vmSize"):
        raise profile.missing("hardwareProfile.vmSize")
    size = limits.require_size(str(hardware["vmSize"]), turn.new.location)
    hardware["vmSize"] = size.name
    return size


def _at(properties: dict[str, Any], path: str) -> Any:
    found: Any = properties
    for name in path.split("."):
        found = (found or {}).get(name)
    return found


def _fixed(turn: Write, old: Resource) -> None:
    if (turn.new.body.get("zones") or []) != (old.body.get("zones") or []):
        raise conflict("PropertyChangeNotAllowed", "Changing property 'zones' is not allowed.")
    for path in (*FIXED, *ONCE):
        before, after = _at(old.properties, path), _at(turn.properties, path)
        if isinstance(before, dict) and isinstance(after, dict):
            after = {**before, **after}
        if after is not None and after != before:
            raise conflict("PropertyChangeNotAllowed", f"Changing property '{path}' is not allowed.")
    for member in ("osProfile", "priority", "evictionPolicy", "billingProfile"):
        if old.properties.get(member) is None:
            continue
        if isinstance(old.properties[member], dict):
            turn.properties[member] = {**copy.deepcopy(old.properties[member]), **(turn.properties.get(member) or {})}
        else:
            turn.properties.setdefault(member, old.properties[member])


def _interfaces(turn: Write) -> None:
    """They are there, of the same network, and nobody else's. Raises ArmError."""
    network = turn.properties.setdefault("networkProfile", {})
    if network.get("networkInterfaceConfigurations"):
        raise profile.not_honoured("networkInterfaceConfigurations")
    listed = network.get("networkInterfaces") or []
    if not listed:
        raise profile.missing("networkProfile.networkInterfaces")
    primaries = sum(bool((one.get("properties") or {}).get("primary")) for one in listed)
    if len(listed) > 1 and primaries != 1:
        raise bad_request(
            "VirtualMachineMustHaveOneNetworkInterfaceAsPrimary", f"{turn.id.name} has {primaries} primary."
        )
    for one in listed:
        found = profile.require(turn.world, str(one.get("id", "")), turn.id.text, INTERFACE, turn.new.location)
        for user in turn.world.store.users(found):
            if user.id.type == MACHINE and user.id.key != turn.id.key:
                message = f"Network Interface {found.id.text} is used by existing resource {user.id.text}."
                raise bad_request("NicInUse", message)
    if turn.old and limits.holds(turn.old):
        before = {one["id"].lower() for one in turn.old.properties["networkProfile"]["networkInterfaces"]}
        if before != {str(one["id"]).lower() for one in listed}:
            code = "AddingOrDeletingNetworkInterfacesOnARunningVirtualMachineNotAllowed"
            raise conflict(code, f"Interfaces of {turn.id.name} can change only while it is deallocated.")


def _begun(turn: Write) -> None:
    machine_disks.take(turn)
    for reference in turn.properties["networkProfile"]["networkInterfaces"]:
        reference["id"] = turn.world.store.get(str(reference["id"])).id.text


def _settle(turn: Write) -> None:
    machine = turn.new
    if machine.state["power"] not in ("starting", "none"):
        return
    room, wanted = limits.Room(turn.world), limits.hardware(machine)
    if limits.holds(machine):
        room.give(wanted)  # it is counted as if it had it already
    if limit := room.take(wanted):
        failed = limits.failure(limit, wanted.size, machine.location)
        machine.state.update({"power": "none", "failure": failed.as_json()})
        raise failed
    machine.state.pop("failure", None)
    machine.state.update({"power": "running", "settled": now()})


def _failed(turn: Write) -> None:
    if turn.new.state["power"] == "starting":
        turn.new.state["power"] = "none"


def _removed(turn: Write) -> None:
    """What is to go with it goes; the rest is free again."""
    machine_disks.leave(turn.world, turn.new)
    for reference in turn.properties["networkProfile"].get("networkInterfaces") or ():
        found = turn.world.store.find(reference["id"])
        if found and (reference.get("properties") or {}).get("deleteOption") == "Delete":
            turn.world.store.drop(found)


def _power(action: str) -> Any:
    def act(turn: Write) -> Later:
        return Later(lambda: power.act(turn.world, [turn.new], action))

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


def _simulate_eviction(turn: Write) -> None:
    events.evict(turn.world, turn.new)


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
