"""What the autoscaler's status ConfigMap says of scaling groups: pure."""

import io
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ruamel.yaml import YAML


class GroupStatus(NamedTuple):
    """`target` is what is there or asked for; `code` and `sentence` are of a failure."""

    name: str
    target: int
    ready: int
    growth: str
    code: str = ""
    sentence: str = ""

    @property
    def backs_off(self) -> bool:
        return self.growth == "Backoff"

    @property
    def coming(self) -> int:
        return max(0, self.target - self.ready) if self.growth in ("InProgress", "Backoff") else 0


class AutoscalerStatus(NamedTuple):
    """Groups by name, none before it has looked at any; `at` is when, in the epoch."""

    at: float
    groups: Mapping[str, GroupStatus]


def read(text: str) -> AutoscalerStatus:
    """Of the ConfigMap's `status`."""
    document = YAML(typ="safe").load(io.StringIO(text)) or {}
    return AutoscalerStatus(
        moment(document.get("time")), {one["name"]: _group(one) for one in document.get("nodeGroups") or []}
    )


def _group(one: Mapping[str, Any]) -> GroupStatus:
    health, growth = one.get("health") or {}, one.get("scaleUp") or {}
    why = growth.get("backoffInfo") or {}
    return GroupStatus(
        one["name"],
        int(health.get("cloudProviderTarget", 0)),
        int(((health.get("nodeCounts") or {}).get("registered") or {}).get("ready", 0)),
        str(growth.get("status", "")),
        str(why.get("errorCode", "")),
        str(why.get("errorMessage", "")),
    )


def moment(text: Any) -> float:
    """Seconds of the epoch, of a time in UTC as Go or decisions.py writes it; 0 for none."""
    found = re.match(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d{1,6})?)", str(text or ""))
    return datetime.fromisoformat(f"{found[1]}T{found[2]:0<8}").replace(tzinfo=UTC).timestamp() if found else 0.0
