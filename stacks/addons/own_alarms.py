"""The fleet's own alarms in a run of Pulumi's own, which nothing has read before."""

import pulumi

import installation
from fleet.errors import FleetError
from fleet.world import World

from .. import own_alarms_check

UNREAD = (
    f"Nobody has read the queries of monitoring.alarms: {installation.missing('promtool', installation.SETUP_LOCAL)}"
)


def check(world: World) -> None:
    """Raises RunError for those that Prometheus would not take, with file and line."""
    if not own_alarms_check.of_fleet(world):
        return
    promtool = installation.found("promtool")
    if promtool is None:
        pulumi.log.warn(UNREAD)
    try:
        own_alarms_check.check(world, promtool)
    except FleetError as error:
        raise pulumi.RunError(str(error)) from None
