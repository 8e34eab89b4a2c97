"""How a scale set grows and shrinks: instances that come, hardware they get or do not, and those that go."""

import copy
import uuid
from typing import Any

from .. import addresses, ids
from ..errors import ArmError, conflict
from ..kinds import World, Write
from ..operations import now
from ..store import Resource
from . import images, interfaces, limits, profile
from .limits import Hardware

# As Azure writes instance ids in computers' names (Azure docs, "Understand instance IDs").
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def instances(world: World, scale_set: Resource) -> list[Resource]:
    """All that are there, those that are going included."""
    return list(world.store.children(scale_set, limits.INSTANCE))


def going(instance: Resource) -> bool:
    return instance.properties.get("provisioningState") == "Deleting"


def staying(world: World, scale_set: Resource) -> list[Resource]:
    return [one for one in instances(world, scale_set) if not going(one)]


def capacity(scale_set: Resource) -> int:
    return int(scale_set.body["sku"]["capacity"])


def model(scale_set: Resource) -> dict[str, Any]:
    """What instances are made by: those that were made by another one are not of the latest model."""
    return {"profile": scale_set.properties["virtualMachineProfile"], "size": scale_set.body["sku"]["name"]}


def grow(write: Write, count: int) -> list[Resource]:
    """So many more, being created. Zones as even as can be; addresses out of their subnets. Raises ArmError."""
    world, scale_set = write.world, write.new
    used_zones = [one.body.get("zones", [""])[0] for one in staying(world, scale_set)]
    zones = scale_set.body.get("zones") or []
    given = _addresses(world, scale_set, count)
    made = []
    for n in range(count):
        zone = min(zones, key=used_zones.count) if zones else ""
        used_zones.append(zone)
        number = scale_set.state.get("next", 0)
        scale_set.state["next"] = number + 1
        made.append(_instance(world, scale_set, number, zone, [one[n] for one in given]))
        world.store.put(made[-1])
    return made


def _addresses(world: World, scale_set: Resource, count: int) -> list[list[str]]:
    """By address configuration, one for each instance. Those in one subnet get different ones."""
    network = scale_set.properties["virtualMachineProfile"]["networkProfile"]
    wanted: dict[str, int] = {}
    listed = list(profile.subnets(network["networkInterfaceConfigurations"]))
    for _, configuration in listed:
        key = configuration["properties"]["subnet"]["id"].lower()
        wanted[key] = wanted.get(key, 0) + count
    free = {key: addresses.free(world, world.store.get(key), n) for key, n in wanted.items()}
    return [
        [free[configuration["properties"]["subnet"]["id"].lower()].pop(0) for _ in range(count)]
        for _, configuration in listed
    ]


def _instance(world: World, scale_set: Resource, number: int, zone: str, given: list[str]) -> Resource:
    id_ = ids.parse(f"{scale_set.id.text}/virtualMachines/{number}")
    sku = {key: value for key, value in scale_set.body["sku"].items() if key != "capacity"}
    body: dict[str, Any] = {"name": f"{scale_set.id.name}_{number}", "instanceId": str(number), "sku": sku}
    body |= {"location": scale_set.location, **({"zones": [zone]} if zone else {})}
    for member in ("tags", "identity"):
        if scale_set.body.get(member):
            body[member] = copy.deepcopy(scale_set.body[member])
    instance = Resource(id_, body)
    instance.properties.update({"vmId": str(uuid.uuid4()), "timeCreated": now(), "provisioningState": "Creating"})
    instance.state.update({"power": "starting", "interfaces": interfaces.of(scale_set, instance, given)})
    instance.state["addresses"] = interfaces.allocations(instance.state["interfaces"])
    take_model(world, scale_set, instance)
    instance.properties["networkProfile"] = {
        "networkInterfaces": [
            {"id": nic["id"], "properties": {"primary": nic["properties"]["primary"]}}
            for nic in instance.state["interfaces"]
        ]
    }
    return instance


def take_model(world: World, scale_set: Resource, instance: Resource) -> None:
    """Makes it by the scale set's model of now."""
    machine_profile = copy.deepcopy(scale_set.properties["virtualMachineProfile"])
    number, os = int(instance.body["instanceId"]), machine_profile.get("osProfile") or {}
    secret = {name: os.pop(name) for name in ("customData", "adminPassword") if name in os}
    if "userData" in machine_profile:
        secret["userData"] = machine_profile.pop("userData")
    instance.secret.update(secret)
    os["computerName"] = f"{os.pop('computerNamePrefix', '')}{_base36(number)}"
    storage = machine_profile.get("storageProfile") or {}
    if storage.get("imageReference"):
        storage["imageReference"] = images.resolve(world, storage["imageReference"], scale_set.location)
    name = f"{scale_set.id.name}_{number}"
    storage.setdefault("osDisk", {"createOption": "FromImage"})["name"] = (
        f"{name}_OsDisk_1_{instance.properties['vmId']}"
    )
    for disk in storage.get("dataDisks") or ():
        disk["name"] = f"{name}_disk{disk['lun']}_{instance.properties['vmId']}"
    instance.properties.update({"osProfile": os, "storageProfile": storage, "hardwareProfile": {}})
    instance.properties["networkProfileConfiguration"] = machine_profile["networkProfile"]
    instance.properties["modelDefinitionApplied"] = "VirtualMachineScaleSet"
    instance.body["sku"] = {key: value for key, value in scale_set.body["sku"].items() if key != "capacity"}
    instance.state["model"] = copy.deepcopy(model(scale_set))
    instance.state["priority"] = "Spot" if profile.is_spot(machine_profile) else "Regular"


def _base36(number: int) -> str:
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = DIGITS[digit] + digits
    return digits.rjust(6, "0")


def allocate(write: Write) -> ArmError | None:
    """Gives hardware to those that are being created. The failure that some ended in, if they did."""
    world, scale_set = write.world, write.new
    room = limits.Room(world)
    waiting = [one for one in staying(world, scale_set) if one.properties["provisioningState"] == "Creating"]
    for one in waiting:
        room.give(limits.hardware(one))  # they are counted as if they had it already
    failed: ArmError | None = None
    for one in waiting:
        limit = _take(room, scale_set, one)
        if limit is None:
            settle(one)
            continue
        failed = limits.failure(limit, one.body["sku"]["name"], scale_set.location)
        if limit.get("leaves_failed"):
            one.properties["provisioningState"], one.state["power"] = "Failed", "none"
            one.state["failure"] = failed.as_json()
        else:
            world.store.drop(one)
    return failed


def settle(instance: Resource) -> None:
    instance.properties["provisioningState"] = "Succeeded"
    instance.state.update({"power": "running", "settled": now()})
    instance.changed()


def _take(room: limits.Room, scale_set: Resource, one: Resource) -> dict[str, Any] | None:
    """In its zone, or, where zones need not be even, in another of the set's."""
    wanted = limits.hardware(one)
    limit = room.take(wanted)
    if limit is None or scale_set.properties.get("zoneBalance"):
        return limit
    for zone in scale_set.body.get("zones") or ():
        if zone != wanted.zone and room.take(Hardware(wanted.location, zone, wanted.size, wanted.spot)) is None:
            one.body["zones"] = [zone]
            return None
    return limit


def leave(world: World, scale_set: Resource, count: int) -> list[Resource]:
    """Marks those that a smaller capacity takes, by the set's scale-in policy. Raises ArmError."""
    chosen = choose(world, scale_set, count)
    for one in chosen:
        one.properties["provisioningState"] = "Deleting"
    return chosen


def choose(world: World, scale_set: Resource, count: int) -> list[Resource]:
    """Azure docs, "Use custom scale-in policies": zones even first, then by rule; Default is the highest id."""
    left = staying(world, scale_set)
    rules = (scale_set.properties.get("scaleInPolicy") or {}).get("rules") or ["Default"]
    chosen: list[Resource] = []
    while len(chosen) < count:
        free = [one for one in left if not (one.properties.get("protectionPolicy") or {}).get("protectFromScaleIn")]
        if not free:
            message = (
                f"{scale_set.id.name} cannot scale in by {count}: its other instances are protected from scale-in."
            )
            raise conflict("OperationNotAllowed", message)
        used_zones = [one.body.get("zones", [""])[0] for one in left]
        most = max(used_zones.count(one.body.get("zones", [""])[0]) for one in free)
        crowded = [one for one in free if used_zones.count(one.body.get("zones", [""])[0]) == most]
        pick = min if "OldestVM" in rules else max
        gone = pick(crowded, key=lambda one: int(one.body["instanceId"]))
        chosen.append(gone)
        left.remove(gone)
    return chosen
