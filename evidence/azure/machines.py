"""What Azure's activity log says of a machine that is down or gone. Pure.

"Azure Activity Log event schema": Administrative is what somebody asked for, ResourceHealth what Azure saw by itself.
"""

import json
from collections.abc import Collection, Iterator, Mapping

from evidence.observation import Json, Observation, moment

SOURCE = "Azure"
# Operation on a machine, or on machines of a scale set, in small letters, by its last words → what it shows.
OPERATIONS: Mapping[str, str] = {
    "virtualmachines/delete": "machine-ended",
    "virtualmachines/deallocate/action": "machine-ended",
    "virtualmachines/poweroff/action": "machine-ended",
    "virtualmachinescalesets/delete": "machine-ended",
    "virtualmachinescalesets/delete/action": "machine-ended",
    "virtualmachinescalesets/deallocate/action": "machine-ended",
    "virtualmachinescalesets/poweroff/action": "machine-ended",
}
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
    at = moment(str(entry["eventTimestamp"]))
    return [
        Observation(at, SOURCE, f"node/{nodes[machine]}", code, text, facts={"machine": machine.rpartition("/")[2]})
        for machine in _machines(entry, nodes)
    ]


def _operation(entry: Json) -> tuple[str, str] | None:
    told = _value(entry, "operationName")
    code = next((code for end, code in OPERATIONS.items() if told.lower().endswith(f"/{end}")), None)
    if code is None or _value(entry, "status") not in DONE:
        return None
    return code, f"{told} by {entry.get('caller') or 'Azure itself'}"


def _health(entry: Json) -> tuple[str, str] | None:
    """Of what somebody did to it the other category tells."""
    told = entry.get("properties") or {}
    if told.get("currentHealthStatus") not in ILL or told.get("cause") != PLATFORM:
        return None
    return "machine-failed", "; ".join(str(one) for one in (told.get("title"), told.get("details")) if one)


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


def _value(entry: Json, name: str) -> str:
    return str((entry.get(name) or {}).get("value") or "")
