"""A plan of an operator's: what it becomes in the cluster, and when it may begin. Pure."""

import re
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

from fleet import maintenance, windows
from fleet.maintenance import stamp
from fleet.model import Maintenance
from landbridge.errors import UsageError

from .targets import Target

MOST_NAME = 60
Json = dict[str, Any]


def manifest(
    chosen: Target,
    told: Maintenance,
    name: str,
    *,
    start: datetime,
    long: timedelta,
    why: str,
    by: str,
    deadline: timedelta | None,
) -> Json:
    """`deadline` is after the start."""
    late = {"deadline": stamp((start + deadline).timestamp())} if deadline is not None else {}
    return {
        "apiVersion": maintenance.API,
        "kind": maintenance.KIND,
        "metadata": {"name": name},
        "spec": {
            "source": "operator",
            "target": {"kind": chosen.kind, "name": chosen.name},
            "why": why,
            "by": by,
            "start": stamp(start.timestamp()),
            "end": stamp((start + long).timestamp()),
            "noticeSeconds": told.notice_minutes * 60,
            "closedSeconds": told.closed_minutes * 60,
            **late,
        },
    }


def check_why(why: str) -> None:
    """Raises UsageError."""
    if not 0 < len(why) <= maintenance.MOST_SIGNS:
        raise UsageError(
            f"--why has {len(why)} characters, and may have 1 to {maintenance.MOST_SIGNS}. Say it in a line."
        )


def check_notice(told: Maintenance, start: datetime, now: datetime) -> None:
    """Raises UsageError."""
    earliest = now + timedelta(minutes=told.notice_minutes)
    if start < earliest - timedelta(minutes=1):
        raise UsageError(
            f"It would begin {start:%Y-%m-%d %H:%M %Z}, and whoever works there is told {told.notice_minutes} min "
            f"before. The earliest is --at {_later(earliest):%Y-%m-%dT%H:%M%z}; what can't wait is planned for then, "
            "and begins with `landbridge maintenance now ID`."
        )


def opens(told: Maintenance, pool: str, place: str, start: datetime) -> datetime | None:
    """When work may begin there that is planned for then. Raises UsageError where it never may."""
    found = windows.opens(windows.of(told, pool, place), told.frozen, start.astimezone(UTC))
    if found is None:
        raise UsageError(
            f"Of {pool or place} no window opens within a year, and not all of that can be meant: see "
            "maintenance.windows and maintenance.frozen in the fleet file."
        )
    return None if found <= start else found


def name(chosen: Target, start: datetime, known: Collection[str]) -> str:
    base = re.sub(r"[^a-z0-9]+", "-", chosen.name.lower()).strip("-")[:MOST_NAME]
    made = f"{base}-{start.astimezone(UTC):%m%d-%H%M}"
    return next(one for one in (made, *(f"{made}-{n}" for n in range(2, len(known) + 3))) if one not in known)


def _later(at: datetime) -> datetime:
    """The next whole minute."""
    return at.replace(second=0, microsecond=0) + timedelta(minutes=1)
