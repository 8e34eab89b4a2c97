"""How much of what teams held did work: asked of Prometheus, which has it for as long as it keeps anything."""

from collections.abc import Iterable
from typing import Any

from fleet.team_storage import team_of
from landbridge.cluster.kube import Kube
from landbridge.monitoring.alarms import asked

# Recorded by components/addons/monitoring/rules/usage.yaml.
HELD, USED = "landbridge:gpus_held", "landbridge:gpus_used"


def by_team(kube: Kube, days: float) -> dict[str, float]:
    """Shares of 1. Raises LandbridgeError where nothing measures, or nobody answers."""
    return read(asked(kube, query(days)))


def query(days: float) -> str:
    span = f"{max(1, round(days * 1440))}m"
    return " / ".join(f"sum by (namespace) (sum_over_time({name}[{span}]))" for name in (USED, HELD))


def read(series: Iterable[dict[str, Any]]) -> dict[str, float]:
    shares = ((str(one["metric"].get("namespace", "")), float(one["value"][1])) for one in series)
    return {team: round(share, 4) for space, share in shares if (team := team_of(space))}
