"""What is about to happen to machines, as they are told of it (Azure docs, "Scheduled Events for Linux VMs").

Here that is a spot machine's eviction, half a minute before: "Preempt: The Spot Virtual Machine is being deleted … 30
seconds". While nobody keeps machines, nobody could ask, and hardware is gone at once.
"""

import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

from ..kinds import World
from ..store import Resource
from . import limits

NOTICE_SECONDS = 30.0
SPOT = "Spot"


def evict(world: World, machine: Resource) -> None:
    """Takes a spot machine's hardware away, now or after the notice. Raises ArmError for another machine."""
    if not world.kept or machine.state.get("priority") != SPOT:
        _end(world, machine)
    elif "event" not in machine.state:
        machine.state["event"] = {"id": str(uuid.uuid4()).upper(), "at": time.time() + NOTICE_SECONDS}
        _changed(world, machine)


def waiting(world: World) -> list[Resource]:
    """Machines that something is about to happen to."""
    return [one for one in limits.machines(world) if "event" in one.state]


def settle_due(world: World) -> None:
    for one in waiting(world):
        if one.state["event"]["at"] <= time.time():
            _carry_out(world, one)


def document(world: World, machine: str) -> dict[str, Any]:
    """What a machine is told: of its own events, and in a scale set of all the set's."""
    scope = _scope(world, world.store.get(machine))
    found = [_event(one) for one in waiting(world) if _scope(world, one) is scope]
    return {"DocumentIncarnation": scope.state.get("incarnation", 1), "Events": found}


def start(world: World, machine: str, events: list[str]) -> None:
    """A machine is ready for them: they need not wait. Raises ValueError for one that it was not told of."""
    scope = _scope(world, world.store.get(machine))
    known = {one.state["event"]["id"]: one for one in waiting(world) if _scope(world, one) is scope}
    if unknown := [one for one in events if one not in known]:
        raise ValueError(f"there is no event {unknown[0]}")
    for id_ in events:
        _carry_out(world, known[id_])


def _event(machine: Resource) -> dict[str, Any]:
    event = machine.state["event"]
    return {
        "EventId": event["id"],
        "EventStatus": "Scheduled",
        "EventType": "Preempt",
        "ResourceType": "VirtualMachine",
        "Resources": [machine.body.get("name", machine.id.name)],
        "NotBefore": format_datetime(datetime.fromtimestamp(event["at"], UTC), usegmt=True),
        "Description": "",
        "EventSource": "Platform",
        "DurationInSeconds": -1,
    }


def _carry_out(world: World, machine: Resource) -> None:
    del machine.state["event"]
    _changed(world, machine)
    _end(world, machine)


def _end(world: World, machine: Resource) -> None:
    end = world.kind(machine.id).evict
    assert end  # limits.machines: of a kind that has it
    end(world, machine)


def _changed(world: World, machine: Resource) -> None:
    scope = _scope(world, machine)
    scope.state["incarnation"] = scope.state.get("incarnation", 1) + 1


def _scope(world: World, machine: Resource) -> Resource:
    """Whose machines hear of each other's events."""
    return world.store.get(machine.id.parent) if machine.id.parent else machine


def started(body: Any) -> Iterator[str]:
    """The ids in what a machine posts. Raises KeyError and TypeError for words of another form."""
    for one in body["StartRequests"]:
        yield str(one["EventId"])
