"""What Azure's activity log says of a machine that is down or gone. Pure.

"Azure Activity Log event schema": Administrative is what somebody asked for, ResourceHealth what Azure saw by itself.
"""

import json
from collections.abc import Collection, Iterator, Mapping

from evidence.observation import Json, Observation, moment

SOURCE = "Azure"
# Operations that end a machine, or machines of a scale set: their last words, in small letters.
ENDED, FAILED = "machine-ended", "machine-failed"
ENDS = (
    *(f"virtualmachines/{verb}" for verb in ("delete", "deallocate/action", "poweroff/action")),
    *(
        f"virtualmachinescalesets/{verb}"
        for verb in ("delete", "delete/action", "deallocate/action", "poweroff/action")
    ),
)
# What was begun may be all that is told of it yet.
DONE = ("Started", "Accepted", "Succeeded")
HEALTH, ILL, PLATFORM = "ResourceHealth", ("Unavailable", "Degraded"), "PlatformInitiated"
ALL = "*"


def of_entry(entry: Json, nodes: Mapping[str, str]) -> list[Observation]:
    """Of an answer of Activity Logs' List, nothing of other machines. `nodes` by machines' ids, in small letters."""
    found = _health(entry) if _value(entry, "category") == HEALTH else _operation(entry)
    if found is None:
        return []
    code, text = found
    at, caller = moment(str(entry["eventTimestamp"])), entry.get("caller")
    who = {"user": str(caller)} if caller and code == ENDED else {}
    return [
        Observation(at, SOURCE, f"node/{nodes[machine]}", code, text, facts={"machine": _name(machine), **who})
        for machine in _machines(entry, nodes)
    ]


def _operation(entry: Json) -> tuple[str, str] | None:
    told = _value(entry, "operationName")
    if not told.lower().endswith(tuple(f"/{end}" for end in ENDS)) or _value(entry, "status") not in DONE:
        return None
    return ENDED, f"{told} by {entry.get('caller') or 'Azure itself'}"


def _health(entry: Json) -> tuple[str, str] | None:
    """Of what somebody did to it the other category tells."""
    told = entry.get("properties") or {}
    if told.get("currentHealthStatus") not in ILL or told.get("cause") != PLATFORM:
        return None
    return FAILED, "; ".join(str(one) for one in (told.get("title"), told.get("details")) if one)


def _machines(entry: Json, known: Collection[str]) -> Iterator[str]:
    """One, or those of a scale set that the call names: all of them where it names none."""
    of = str(entry["resourceId"]).lower()
    if of in known:
        yield of
        return
    numbers = {*_named(entry)}
    for machine in known:
        place, _, number = machine.rpartition("/virtualmachines/")
        if place == of and (number in numbers or ALL in numbers):
            yield machine


def _named(entry: Json) -> list[str]:
    try:
        body = json.loads((entry.get("properties") or {}).get("requestbody") or "{}")
        return [str(one) for one in body.get("instanceIds") or [ALL]]
    except (ValueError, AttributeError):
        return [ALL]


def _name(machine: str) -> str:
    """As Azure calls it: one of a scale set after the set and its number."""
    place, _, name = machine.rpartition("/virtualmachines/")
    of, _, group = place.rpartition("/virtualmachinescalesets/")
    return f"{group}_{name}" if of else name


def _value(entry: Json, name: str) -> str:
    return str((entry.get(name) or {}).get("value") or "")
