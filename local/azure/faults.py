"""Refusals on request: what tests have the local Azure say instead of doing what was asked.

PUT /landbridge-api/faults [{"match": {"method": "PUT", "type": "Microsoft.Compute/virtualMachineScaleSets",
"location": "southcentralus", "name": "regex"}, "status": 409, "code": "SkuNotAvailable", "message": "…",
"retry_after_seconds": 3, "late": false, "times": 2}]

What is left out of `match` fits all. `late`: the call is taken, and the operation fails. `times`: so often, then no
more; none: always.

{"outage": "example-southcentralus"}: nothing in this resource group answers, see outages.py.
"""

import json
import re
from typing import Any

from . import outages
from .errors import ArmError

FIELDS = {"match", "status", "code", "message", "retry_after_seconds", "late", "times"}
MATCHES = {"method", "type", "location", "name"}
_planned: list[dict[str, Any]] = []


def put(body: bytes) -> list[dict[str, Any]]:
    """Replaces all. Raises ValueError."""
    listed = json.loads(body)
    chosen = [one for one in listed if one.keys() != {"outage"}]
    for one in chosen:
        if strange := sorted((one.keys() - FIELDS) | (one.get("match", {}).keys() - MATCHES)):
            raise ValueError(f"a fault has no {', '.join(strange)}")
        if not {"status", "code"} <= one.keys():
            raise ValueError("a fault needs status and code")
    _planned[:] = chosen
    outages.put({str(one["outage"]) for one in listed if one.keys() == {"outage"}})
    return listing()


def listing() -> list[dict[str, Any]]:
    return [*_planned, *({"outage": group} for group in outages.listing())]


def planned(method: str, type_: str, location: str, name: str, *, late: bool = False) -> ArmError | None:
    """The refusal that is due for a call; one of its times is over then."""
    call = {"method": method, "type": type_, "location": location, "name": name}
    for one in _planned:
        fits = all(re.fullmatch(str(want), call[field], re.IGNORECASE) for field, want in one.get("match", {}).items())
        if not fits or bool(one.get("late")) != late or one.get("times") == 0:
            continue
        if "times" in one:
            one["times"] -= 1
        seconds = one.get("retry_after_seconds")
        headers = [("Retry-After", str(seconds))] if seconds is not None else []
        return ArmError(
            one["status"], one["code"], one.get("message", f"{one['code']}, as a test asked for"), headers=headers
        )
    return None
