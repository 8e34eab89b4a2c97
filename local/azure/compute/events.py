"""What is about to happen to machines, as they are told of it (Azure docs, "Scheduled Events for Linux VMs").

A spot machine's eviction comes by itself, half a minute before: "Preempt: The Spot Virtual Machine is being deleted …
30 seconds". All others by command, as nothing ails here. While nobody keeps machines, nobody could ask, and hardware is
gone at once.
"""

import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any, NamedTuple

from ..kinds import World
from ..store import Resource
from . import limits, power

SPOT, PREEMPT = "Spot", "Preempt"


class Kind(NamedTuple):
    """`notice_seconds` is the least that Azure gives; `long` how long it lasts, -1 for ever. `action` is power's."""

    notice_seconds: float
    long: int
    action: str = ""


# A freeze is seen by no program. What has no action is gone afterwards.
KINDS = {
    "Freeze": Kind(900.0, 9, "freeze"),
    "Reboot": Kind(900.0, 300, "restart"),
    "Redeploy": Kind(600.0, 600, "redeploy"),
    PREEMPT: Kind(30.0, -1),
    "Terminate": Kind(300.0, -1),
}


def evict(world: World, machine: Resource) -> None:
    """Takes a spot machine's hardware away, now or after the notice. Raises ArmError for another machine."""
    if not world.kept or machine.state.get("priority") != SPOT:
        _end(world, machine)
    else:
        announce(world, machine, PREEMPT)


def announce(world: World, machine: Resource, kind: str, in_seconds: float | None = None) -> dict[str, Any]:
    """A machine has one event at a time: the first stands. Raises ValueError."""
    if kind not in KINDS:
        raise ValueError(f"Azure announces no {kind}: {', '.join(KINDS)}")
    if kind == PREEMPT and machine.state.get("priority") != SPOT:
        raise ValueError(f"{machine.id.name} is no spot machine")
    if "event" not in machine.state:
        seconds = KINDS[kind].notice_seconds if in_seconds is None else in_seconds
        machine.state["event"] = {"id": str(uuid.uuid4()).upper(), "at": time.time() + seconds, "type": kind}
        _changed(world, machine)
    return dict(machine.state["event"])


def withdraw(world: World, machine: Resource) -> None:
    """It does not come to it. Raises ValueError."""
    if machine.state.pop("event", None) is None:
        raise ValueError(f"nothing is announced of {machine.id.name}")
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
        "EventType": event["type"],
        "ResourceType": "VirtualMachine",
        "Resources": [machine.body.get("name", machine.id.name)],
        "NotBefore": format_datetime(datetime.fromtimestamp(event["at"], UTC), usegmt=True),
        "Description": "",
        "EventSource": "Platform",
        "DurationInSeconds": KINDS[event["type"]].long,
    }


def _carry_out(world: World, machine: Resource) -> None:
    kind = KINDS[machine.state.pop("event")["type"]]
    _changed(world, machine)
    if not kind.action:
        _end(world, machine)
    elif kind.action in power.AFTER:
        power.act(world, [machine], kind.action)


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
