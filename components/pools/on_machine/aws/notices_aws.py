"""What EC2 announces of this instance, by its metadata, for node_notices.py.

EC2 user guide: "View scheduled events that affect your instances", "Spot Instance interruption notices", "EC2 instance
rebalance recommendations".
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError

from api_aws import metadata

SCHEDULED, SPOT, REBALANCE = (
    "events/maintenance/scheduled",
    "spot/instance-action",
    "events/recommendations/rebalance",
)
# Of those, the instance does not come back by itself; of all others it does.
ENDING = ("instance-retirement", "instance-stop")
TIME = "%d %b %Y %H:%M:%S GMT"
# Advice: nobody says for how long it holds.
ADVICE = timedelta(hours=24)


def announced() -> list[dict[str, Any]]:
    """Raises OSError, ValueError, KeyError."""
    return [*scheduled(_asked(SCHEDULED) or []), *interruption(_asked(SPOT)), *advice(_asked(REBALANCE))]


def ready(id_: str) -> None:
    """EC2 does it at its time."""


def scheduled(told: list[Mapping[str, str]]) -> list[dict[str, Any]]:
    return [
        {
            "id": one["EventId"],
            "source": "ec2-retirement" if one["Code"] in ENDING else "ec2-event",
            "why": one["Code"] if one["Description"] == one["Code"] else f"{one['Code']}: {one['Description']}",
            "start": _time(one["NotBefore"]),
            "end": _time(one.get("NotAfter") or one["NotBefore"]),
        }
        for one in told
        if one["State"] == "active"
    ]


def interruption(told: Mapping[str, str] | None) -> list[dict[str, Any]]:
    if not told:
        return []
    at = told["time"]
    return [{"id": f"spot-{at}", "source": "ec2-spot", "why": f"spot {told['action']}", "start": at, "end": at}]


def advice(told: Mapping[str, str] | None) -> list[dict[str, Any]]:
    if not told:
        return []
    at = told["noticeTime"]
    end = (datetime.fromisoformat(at) + ADVICE).strftime("%Y-%m-%dT%H:%M:%SZ")
    why = "spot rebalance recommendation"
    return [{"id": f"rebalance-{at}", "source": "ec2-rebalance", "why": why, "start": at, "end": end}]


def _asked(path: str) -> Any:
    """None where there is nothing of the kind."""
    try:
        return json.loads(metadata(path))
    except HTTPError as error:
        if error.code == HTTPStatus.NOT_FOUND:
            return None
        raise


def _time(text: str) -> str:
    return datetime.strptime(text, TIME).replace(tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
