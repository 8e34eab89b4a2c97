"""How long machines are waited for, whom that is told, and where people look meanwhile."""

from collections.abc import Callable

from landbridge.places import Place

READY_SECONDS = {"real": 900.0, "local": 300.0}
# Hears again and again what is waited for, and may raise.
Tell = Callable[[str], None]


def look(place: Place) -> str:
    return "`landbridge local logs MACHINE`" if place.world == "local" else "the instance's console output"
