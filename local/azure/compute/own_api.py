"""What tests, and whoever keeps the machines, ask of Compute over our own API."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import ArmError
from ..kinds import World
from ..store import Resource
from . import events, limits, power, sizes


def machines(world: World) -> list[dict[str, Any]]:
    """GET machines: all that a machine is started from, its custom data (base64) included."""
    world.operations.settle_due()
    return [machine(world, one) for one in limits.machines(world)]


def machine(world: World, one: Resource) -> dict[str, Any]:
    hardware, identity = limits.hardware(one), one.body.get("identity") or {}
    storage = one.properties.get("storageProfile") or {}
    return {
        "id": one.id.text,
        "name": one.body.get("name", one.id.name),
        "computer_name": (one.properties.get("osProfile") or {}).get("computerName", ""),
        "vm_id": one.properties.get("vmId"),
        "location": hardware.location,
        "zone": hardware.zone,
        "size": hardware.size,
        "spot": hardware.spot,
        "addresses": addresses(world, one),
        "custom_data": one.secret.get("customData") or (one.properties.get("osProfile") or {}).get("customData"),
        "identities": list(identity.get("userAssignedIdentities") or {}),
        "tags": one.body.get("tags") or {},
        "image": (storage.get("imageReference") or {}).get("id"),
        "disks": storage.get("dataDisks") or [],
        "provisioning_state": one.properties.get("provisioningState"),
        "power": one.state.get("power"),
        "starts": one.state.get("starts", 0),
    }


def addresses(world: World, one: Resource) -> list[dict[str, str]]:
    """Of all its interfaces, the first the primary one's: its address, subnet's id and interface's id."""
    found = []
    for nic in interfaces(world, one):
        for configuration in nic["properties"]["ipConfigurations"]:
            where = {
                "address": configuration["properties"].get("privateIPAddress"),
                "subnet": configuration["properties"]["subnet"]["id"],
            }
            found.append({**where, "interface": nic["id"]})
    return found


def interfaces(world: World, one: Resource) -> list[dict[str, Any]]:
    if "interfaces" in one.state:
        return list(one.state["interfaces"])
    listed = (one.properties.get("networkProfile") or {}).get("networkInterfaces") or ()
    found = [world.store.find(str(reference["id"])) for reference in listed]
    return [{"id": nic.id.text, "properties": nic.properties} for nic in found if nic is not None]


def evict(world: World, body: dict[str, Any]) -> dict[str, Any]:
    """POST evict {"id": …}: a spot machine loses its hardware, as `events` has it."""
    try:
        events.evict(world, _found(world, body))
    except ArmError as error:
        raise ValueError(error.message) from None
    return body


def announce(world: World, body: dict[str, Any]) -> dict[str, Any]:
    """POST announce {"id": …, "type": "Reboot", "in_seconds": N}: what its machine is told of."""
    return events.announce(world, _found(world, body), str(body["type"]), body.get("in_seconds"))


def withdraw(world: World, body: dict[str, Any]) -> dict[str, Any]:
    """POST withdraw {"id": …}: what was announced does not come."""
    events.withdraw(world, _found(world, body))
    return body


def _found(world: World, body: dict[str, Any]) -> Resource:
    """By its id or, as the machines service knows it, its vmId. Raises ValueError."""
    world.operations.settle_due()
    by_vm_id = (one for one in limits.machines(world) if one.properties.get("vmId") == body["id"])
    found = next(by_vm_id, None) or world.store.find(str(body["id"]))
    if found is None or found.id.type.lower() not in (limits.INSTANCE.lower(), limits.MACHINE.lower()):
        raise ValueError(f"there is no machine {body['id']}")
    return found


def start(world: World, machine: str, body: Any) -> None:
    """POST start_events [ID, {"StartRequests": [{"EventId": …}]}]: a machine is ready for what it was told of."""
    events.start(world, machine, list(events.started(body)))


ANSWERS: Mapping[tuple[str, str], Callable[[World, bytes], Any]] = {
    ("GET", "machines"): lambda world, _: machines(world),
    ("PUT", "power"): lambda world, body: power.record_power(world, json.loads(body)),
    ("PUT", "quotas"): lambda _, body: limits.put_quotas(json.loads(body)),
    ("PUT", "skus"): lambda _, body: sizes.put(json.loads(body)),
    ("PUT", "capacity"): lambda _, body: limits.put_capacity(json.loads(body)),
    ("POST", "evict"): lambda world, body: evict(world, json.loads(body)),
    ("POST", "announce"): lambda world, body: announce(world, json.loads(body)),
    ("POST", "withdraw"): lambda world, body: withdraw(world, json.loads(body)),
    ("POST", "events"): lambda world, body: events.document(world, json.loads(body)),
    ("POST", "start_events"): lambda world, body: start(world, *json.loads(body)),
}
