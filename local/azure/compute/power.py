"""What a machine's power is, who changes it, and what its view says of it.

`Resource.state["power"]` of a machine: "starting" until it is there, then running, stopped, deallocated; "none" for one
that never got hardware. Nobody keeps machines unless PUT /landbridge-api/power says so: until then they run at once.
"""

from typing import Any

from ..errors import conflict
from ..kinds import World
from ..operations import now
from ..store import Resource
from . import limits

SHOWN = {
    "starting": "VM starting",
    "running": "VM running",
    "stopping": "VM stopping",
    "stopped": "VM stopped",
    "deallocating": "VM deallocating",
    "deallocated": "VM deallocated",
}
# Action, in small letters → the power afterwards.
AFTER = {
    "start": "running",
    "restart": "running",
    "redeploy": "running",
    "reimage": "running",
    "reimageall": "running",
    "poweroff": "stopped",
    "deallocate": "deallocated",
}


def act(world: World, machines: list[Resource], action: str) -> None:
    """Does it to them. Raises ArmError when one that had none gets no hardware; those before it have theirs."""
    room = limits.Room(world)
    for machine in machines:
        wanted = AFTER[action.lower()]
        if wanted == "running" and not limits.holds(machine) and (limit := room.take(limits.hardware(machine))):
            raise limits.failure(limit, limits.hardware(machine).size, machine.location)
        if wanted == "running":
            machine.state["starts"] = machine.state.get("starts", 0) + 1
        if action.lower().startswith("reimage"):
            machine.state["renewals"] = machine.state.get("renewals", 0) + 1
        machine.state["power"] = wanted
        machine.changed()


def record_power(world: World, states: dict[str, str]) -> dict[str, str]:
    """PUT /landbridge-api/power {ID: "running"}, by whoever keeps the machines. Raises ValueError."""
    for id_, power in states.items():
        machine = world.store.find(id_)
        if machine is None or machine.id.type.lower() not in (limits.MACHINE.lower(), limits.INSTANCE.lower()):
            raise ValueError(f"there is no machine {id_}")
        if power not in SHOWN:
            raise ValueError(f"a machine's power is one of {', '.join(SHOWN)}, not {power}")
        machine.state["power"] = power
        machine.changed()
    return states


def statuses(machine: Resource) -> list[dict[str, Any]]:
    """Of a machine's instance view."""
    state = str(machine.properties.get("provisioningState", "Succeeded"))
    level = "Error" if state == "Failed" else "Info"
    found = [status(f"ProvisioningState/{state.lower()}", f"Provisioning {state.lower()}", level, machine)]
    if message := machine.state.get("failure"):
        found[0]["code"], found[0]["message"] = f"ProvisioningState/failed/{message['code']}", message["message"]
    power = machine.state.get("power")
    if power in SHOWN and state != "Creating":
        found.append({"code": f"PowerState/{power}", "level": "Info", "displayStatus": SHOWN[power]})
    return found


def status(code: str, shown: str, level: str = "Info", machine: Resource | None = None) -> dict[str, Any]:
    at = (machine.state.get("settled") if machine else None) or now()
    return {"code": code, "level": level, "displayStatus": shown, "time": at}


def view(_: World, machine: Resource) -> dict[str, Any]:
    """The instance view of a machine."""
    profile = machine.properties.get("osProfile") or {}
    found: dict[str, Any] = {"statuses": statuses(machine), "hyperVGeneration": "V2"}
    if profile.get("computerName"):
        found["computerName"] = profile["computerName"]
    return found


def expanded(world: World, machine: Resource) -> dict[str, Any]:
    return {"instanceView": view(world, machine)}


def require_not_protected(machine: Resource, action: str) -> None:
    policy = machine.properties.get("protectionPolicy") or {}
    if policy.get("protectFromScaleSetActions"):
        message = (
            f"{action} is not allowed on instance {machine.id.name}, which is protected from its scale set's actions."
        )
        raise conflict("OperationNotAllowed", message)
