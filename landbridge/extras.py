"""Commands say which Python packages they lack before they begin."""

from fleet import extras
from fleet.world import World

from .errors import UsageError


def check_fleet(world: World) -> None:
    """Raises UsageError where a cloud of the fleet wants packages that are not installed."""
    if lacking := list(extras.of_fleet(world.fleet, world.path.name)):
        raise UsageError("\n".join(lacking))


def check(extra: str) -> None:
    """Raises UsageError where an extra is not installed."""
    if why := extras.missing(extra):
        raise UsageError(f"{why[0].upper()}{why[1:]}")
