"""The activity log: who did what to resources ("Azure Monitor activity log", category Administrative).

Kept are writes, deletes and actions that were accepted, the last thousand of them. A write's body is not: it may hold
secrets. What is read is told as "Activity Logs - List" has it, by a filter of the forms that its reference names.
"""

import re
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from . import ids
from .errors import ArmError, bad_request
from .kinds import World
from .operations import now

MOST = 1000
VERBS = {"PUT": "write", "PATCH": "write", "DELETE": "delete"}
ACCEPTED = 202
CLAUSE = re.compile(r"(eventTimestamp|resourceGroupName|resourceProvider|resourceUri) (ge|le|eq) '([^']+)'")


class Entry(NamedTuple):
    """`at` as Azure writes times; `said` is an action's body, as JSON."""

    at: str
    caller: str
    operation: str
    resource: str
    status: str
    said: str = ""


def record(world: World, method: str, path: str, said: str, caller: str, status: int) -> None:
    """Of a call that was accepted. Reads leave nothing."""
    if entry := _entry(method, path.rstrip("/"), said, caller, status):
        world.activity = [*world.activity, entry][-MOST:]


def _entry(method: str, path: str, said: str, caller: str, status: int) -> Entry | None:
    of, _, action = path.rpartition("/")
    try:
        id_ = ids.parse(of if method == "POST" else path)
    except ArmError:  # of no resource
        return None
    if method == "POST":
        verb = f"{action}/action"
    elif method in VERBS:
        verb, said = VERBS[method], ""
    else:
        return None
    done = "Accepted" if status == ACCEPTED else "Succeeded"
    return Entry(now(), caller, f"{id_.type}/{verb}", id_.text, done, said)


def listed(world: World, subscription: str, query: Mapping[str, str]) -> dict[str, Any]:
    """The newest first. Raises ArmError for a filter that Azure refuses."""
    clauses = _clauses(query.get("$filter", ""))
    mine = [one for one in reversed(world.activity) if ids.parse(one.resource).subscription == subscription]
    return {"value": [_told(one) for one in mine if all(_fits(one, *clause) for clause in clauses)]}


def _clauses(text: str) -> list[tuple[str, str, str]]:
    found = [CLAUSE.fullmatch(part.strip()) for part in text.split(" and ")] if text else []
    known = [(one[1], one[2], one[3]) for one in found if one]
    if len(known) < len(found) or ("eventTimestamp", "ge") not in [one[:2] for one in known]:
        raise bad_request("BadRequest", f"The filter {text!r} is not valid: it begins with eventTimestamp ge 'TIME'.")
    return known


def _fits(entry: Entry, name: str, relation: str, value: str) -> bool:
    id_ = ids.parse(entry.resource)
    if name == "eventTimestamp":
        at, bound = datetime.fromisoformat(entry.at), datetime.fromisoformat(value)
        return at >= bound if relation == "ge" else at <= bound
    has = {"resourceGroupName": id_.group, "resourceProvider": id_.namespace, "resourceUri": id_.text}
    return ids.same(has[name], value)


def _told(entry: Entry) -> dict[str, Any]:
    id_ = ids.parse(entry.resource)
    number = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{entry.at}{entry.operation}{entry.resource}"))
    return {
        "authorization": {"action": entry.operation, "scope": id_.text},
        "caller": entry.caller,
        "category": _name("Administrative"),
        "correlationId": number,
        "eventDataId": number,
        "eventName": _name("EndRequest"),
        "eventTimestamp": entry.at,
        "submissionTimestamp": entry.at,
        "id": f"{id_.text}/events/{number}",
        "level": "Informational",
        "operationName": _name(entry.operation),
        "resourceGroupName": id_.group,
        "resourceId": id_.text,
        "resourceProviderName": _name(id_.namespace),
        "resourceType": _name(id_.type),
        "status": _name(entry.status),
        "subscriptionId": id_.subscription,
        **({"properties": {"requestbody": entry.said}} if entry.said else {}),
    }


def _name(value: str) -> dict[str, str]:
    return {"value": value, "localizedValue": value}
