"""Alerts of Azure's Monitor."""

from collections.abc import Mapping

from ..kinds import Kind, within

KINDS: Mapping[str, Kind] = {
    "azure-native:monitor:MetricAlert": Kind(
        within("Microsoft.Insights", "metricAlerts/{ruleName}"), None, replace=frozenset(("location",))
    ),
}
