"""Changes of a plan: later, now, never, done. Pure: what is written, and why it may not be."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from fleet.maintenance import AWAY, SOURCES, stamp
from landbridge.errors import UsageError

from .objects import Item, Operations


def put(name: str, value: Any) -> Mapping[str, Any]:
    return {"op": "add", "path": f"/spec/{name}", "value": value}


def later(found: Item, by: str, long: timedelta, now: datetime) -> Operations:
    """Raises UsageError. Limits are the cluster's to keep: addons/maintenance_kind.py."""
    _ours(found, "postponed", "It is the cloud's to choose.")
    _not_over(found, "postponed")
    if begun := [name for name, one in found.plan.nodes.items() if one.phase in AWAY]:
        raise UsageError(f"{found.plan.name} is not postponed: it has begun, on {', '.join(begun[:3])}.")
    minutes = int(long.total_seconds() // 60)
    if minutes < 1:
        raise UsageError("It is postponed by a minute at least.")
    moved = {"by": by, "at": stamp(now.timestamp()), "minutes": minutes}
    before = found.thing["spec"].get("postponed", [])
    plan, seconds = found.plan, minutes * 60
    deadline = [put("deadline", stamp(plan.deadline + seconds))] if plan.deadline else []
    return [
        put("start", stamp(plan.start + seconds)),
        put("end", stamp(plan.end + seconds)),
        *deadline,
        put("postponed", [*before, moved]),
    ]


def at_once(found: Item, now: datetime) -> Operations:
    """No notice: who is there is told and asked to leave. Raises UsageError."""
    _ours(found, "begun", "The cloud begins it.")
    _not_over(found, "begun")
    plan, at = found.plan, now.timestamp()
    changes = [put("noticeSeconds", 0), put("start", stamp(at)), put("end", stamp(at + plan.end - plan.start))]
    return [*changes, *([put("deadline", stamp(at + plan.deadline - plan.start))] if plan.deadline else [])]


def never(found: Item) -> Operations:
    """Raises UsageError."""
    _ours(found, "cancelled", "When the cloud calls it off, it goes by itself.")
    _not_over(found, "cancelled")
    return [put("cancelled", value=True)]


def done(found: Item) -> Operations:
    """Raises UsageError."""
    _not_over(found, "ended")
    if not any(one.phase in AWAY for one in found.plan.nodes.values()):
        raise UsageError(
            f"{found.plan.name} has not begun: `landbridge maintenance cancel {found.plan.name}` drops it."
        )
    return [put("over", value=True)]


def _ours(found: Item, what: str, why: str) -> None:
    if not found.plan.ours:
        raise UsageError(f"{found.plan.name} is not {what}: it comes from {SOURCES[found.plan.source].who}. {why}")


def _not_over(found: Item, what: str) -> None:
    if found.over or found.plan.cancelled:
        raise UsageError(f"{found.plan.name} is not {what}: it is {found.phase}.")
