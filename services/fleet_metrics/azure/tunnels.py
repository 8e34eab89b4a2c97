"""How tunnels of VPN connections in a region of Azure are, by the connections themselves, which keep their keys back.

A list of them has no states; so each is asked for, by its id.
"""

from collections.abc import Collection, Mapping
from typing import Any

from .clients import Arm, errors

VERSION = "2024-05-01"


class Region:
    """One thread calls it."""

    def __init__(self, region: str, client: Any = None) -> None:
        self.region, self.arm = region, Arm(client)

    def up(self, named: Collection[str], now: float) -> Mapping[str, float]:  # noqa: ARG002
        """By ids. Raises CloudError."""
        with errors(self.region):
            return {one: told for one in named if (told := self._up(one)) is not None}

    def _up(self, id_: str) -> float | None:
        told = self.arm.get(id_, VERSION)
        return 0.0 if told is None else part(told.get("properties") or {})


def part(properties: Mapping[str, Any]) -> float | None:
    """Of a connection. Where nothing is told of its tunnels its own state counts: see landbridge/links/azure."""
    states = [one.get("connectionStatus") for one in properties.get("tunnelConnectionStatus") or []]
    states = states or [properties.get("connectionStatus") or "Unknown"]
    if "Unknown" in states:
        return None
    return float(sum(one == "Connected" for one in states) / len(states))
