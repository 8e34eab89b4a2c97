"""The fleet's own alarms, as rules of Prometheus: beside ours, in a file of their own."""

from typing import Any

from fleet.monitoring import OPERATORS
from fleet.monitoring_model import Monitoring, OwnAlarm
from fleet.team_storage import namespace

from ..manifests import compact

FILE = "own-alarms.yaml"


def file(given: Monitoring) -> dict[str, str]:
    """By its name; nothing where the fleet has none."""
    found = [rule(name, one) for name, one in sorted(given.alarms.items())]
    return {FILE: compact({"groups": [{"name": "own-alarms", "rules": found}]})} if found else {}


def rule(name: str, alarm: OwnAlarm) -> dict[str, Any]:
    # Whose alarm it is says its namespace, as with ours.
    whose = {} if alarm.owner == OPERATORS else {"namespace": namespace(alarm.owner)}
    return {
        "alert": name,
        "expr": alarm.when,
        "for": alarm.after,
        "labels": {"severity": alarm.severity, "owner": "team" if whose else OPERATORS, **whose},
        "annotations": {"summary": alarm.says, **({"runbook": alarm.runbook} if alarm.runbook else {})},
    }
