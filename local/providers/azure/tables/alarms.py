"""Alerts of Azure's Monitor, and the groups that they tell."""

from collections.abc import Mapping

from ..kinds import Kind, within

KINDS: Mapping[str, Kind] = {
    "azure-native:monitor:MetricAlert": Kind(
        within("Microsoft.Insights", "metricAlerts/{ruleName}"), None, replace=frozenset(("location",))
    ),
    "azure-native:monitor:ActionGroup": Kind(
        within("Microsoft.Insights", "actionGroups/{actionGroupName}"), None, replace=frozenset(("location",))
    ),
}
