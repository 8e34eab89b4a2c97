"""Alarms of the clouds tell those whom the fleet file names."""

from collections.abc import Iterator
from typing import Any

from fleet.cloud_alarms import told
from fleet.world import World

from .reading import Finding, Item, finding, of_types, undecidable, unknown_in

# Type → what it tells, as it comes on and as it goes off again (Azure's tell both by one property).
TOLD: dict[str, tuple[str, ...]] = {
    "aws:cloudwatch/metricAlarm:MetricAlarm": ("alarmActions", "okActions"),
    "azure-native:monitor:MetricAlert": ("actions",),
}
# Of Azure: the property of an action.
GROUP = "actionGroupId"


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    """Nothing is asked of a fleet that names nobody."""
    fleet = world.fleet
    known = {one.lower() for region in fleet.regions for one in told(fleet, region)}
    for item in of_types(found, TOLD) if known else ():
        for path in TOLD[item.type]:
            given = item.props.get(path)
            if unknown_in(given):
                yield undecidable(item, path)
            elif not any(_place(one) in known for one in given or ()):
                what = f"{path} name nobody whom `cloud_alarms` of the fleet file has told"
                yield finding(item, path, what, "Take fleet.cloud_alarms.told of its region")


def _place(action: Any) -> str:
    return str(action.get(GROUP) if isinstance(action, dict) else action).lower()
