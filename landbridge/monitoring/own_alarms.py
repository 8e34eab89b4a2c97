"""The fleet's own alarms, before anything is begun: here promtool has to be there."""

import installation
from fleet.world import World
from landbridge.errors import UsageError
from stacks import own_alarms_check


def check(world: World) -> None:
    """Raises FleetError with each that is wrong, and its line; UsageError."""
    if own_alarms_check.of_fleet(world):
        own_alarms_check.check(world, program())


def program() -> str:
    """promtool: that of set-up, else the one on the PATH. Raises UsageError."""
    if (found := installation.found("promtool")) is None:
        raise UsageError(installation.missing("promtool", installation.SETUP_LOCAL))
    return found
