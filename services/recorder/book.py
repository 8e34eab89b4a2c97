"""What was seen and is not yet written: bounded, and whatever is seen again within a minute counts once."""

import threading
from collections.abc import Hashable
from typing import NamedTuple

from evidence.observation import Observation

# Of lines that wait: at 300 bytes each an hour of a cluster that loses 1,000 pods a minute.
MOST = 200_000


class Taken(NamedTuple):
    """`lost` is the time of the last that found no room, 0 where all did."""

    seen: list[Observation]
    lost: float


class Book:
    """Many threads write, one takes. `urgent`: somebody will ask soon."""

    def __init__(self, most: int = MOST) -> None:
        self.most, self.lock = most, threading.Lock()
        self.lines: dict[Hashable, Observation] = {}
        self.lost = 0.0
        self.urgent = threading.Event()

    def add(self, one: Observation, key: Hashable = None, *, urgent: bool = False) -> None:
        """What has the same key takes the place of the one before."""
        named = key if key is not None else one.line()
        with self.lock:
            if len(self.lines) >= self.most and named not in self.lines:
                self.lost = max(self.lost, one.at)
                return
            self.lines[named] = one
        if urgent:
            self.urgent.set()

    def take(self) -> Taken:
        with self.lock:
            found, lost = [*self.lines.values()], self.lost
            self.lines, self.lost = {}, 0.0
        self.urgent.clear()
        return Taken(found, lost)
