"""What Azure announces of this machine, for node_notices.py (Azure docs, "Scheduled Events for Linux VMs")."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from api_azure import META, instance, metadata
from machine import Text, send

VERSION = "2020-07-01"
# Type → who announces that (fleet/maintenance.py). A freeze of seconds ends nobody's work.
SOURCES = {
    "Freeze": "azure-freeze",
    "Reboot": "azure-event",
    "Redeploy": "azure-event",
    "Preempt": "azure-end",
    "Terminate": "azure-end",
}
_names: list[str] = []


def announced() -> list[dict[str, Any]]:
    """Raises Refused, OSError, ValueError, KeyError."""
    found: Sequence[Mapping[str, Any]] = metadata("scheduledevents", VERSION)["Events"]
    return mine(found, _own(), datetime.now(UTC)) if found else []


def mine(events: Sequence[Mapping[str, Any]], name: str, now: datetime) -> list[dict[str, Any]]:
    """Those of this machine: others of its scale set hear of theirs. What has started has no time any more."""
    found = []
    for one in events:
        if name not in one["Resources"] or one["EventType"] not in SOURCES:
            continue
        start = parsedate_to_datetime(one["NotBefore"]) if one["NotBefore"] else now
        end = start + timedelta(seconds=max(0, int(one.get("DurationInSeconds") or 0)))
        found.append(
            {
                "id": one["EventId"],
                "source": SOURCES[one["EventType"]],
                "why": f"{one['EventType']}, by {one.get('EventSource') or 'Platform'}",
                "start": _time(start) if one["NotBefore"] else "",
                "end": _time(end) if one["NotBefore"] else "",
            }
        )
    return found


def ready(id_: str) -> None:
    """Raises Refused, OSError."""
    body = json.dumps({"StartRequests": [{"EventId": id_}]}).encode()
    url = f"{META}scheduledevents?api-version={VERSION}"
    send("POST", url, {"Metadata": "true"}, Text(body))


def _own() -> str:
    """As events name it; it does not change."""
    if not _names:
        _names.append(str(instance()["compute"]["name"]))
    return _names[0]


def _time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
