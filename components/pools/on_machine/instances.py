"""Which instances run in the pools' scaling groups: asked of clouds rarely, and at once for one that is not known.

A thread a region asks; nobody else ever waits for a cloud. What a region does not answer is not known, no more.
"""

import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Protocol

from join_rules import Instance, Unsure
from machine import Refused, say

# What was seen is believed for so long.
BELIEVED_SECONDS = 150.0
# Machines come by the hundred: what is asked for within a moment goes in one question.
GATHER_SECONDS = 0.1
ALIVE = ("pending", "running", "stopping", "stopped", "shutting-down")


class Source(Protocol):
    """A region's cloud. `names` tells whether a node may be one of its machines; others raise OSError, Refused."""

    what: str
    # Between two listings; and what was not found is asked for anew after so long.
    period_seconds: float
    absent_seconds: float

    def names(self, node: str) -> bool: ...

    def some(self, nodes: Collection[str]) -> list[Instance]:
        """At least those of some nodes that there are."""
        ...

    def all(self) -> list[Instance]:
        """Of the pools' scaling groups."""
        ...


class Region:
    """`known` are all that were ever seen alive; `missing` tells since when, and when last, one was not found."""

    def __init__(self, name: str, source: Source) -> None:
        self.name, self.source = name, source
        self.answered: Callable[[], None] = lambda: None
        self.lock, self.wake = threading.Lock(), threading.Event()
        self.found: dict[str, tuple[Instance, float]] = {}
        self.missing: dict[str, tuple[float, float]] = {}
        self.known: set[str] = set()
        self.wanted: set[str] = set()
        # When the last listing was tried, and when one came.
        self.listed, self.answered_at, self.problem = 0.0, -1e9, "it was not asked yet"

    def look(self, instance: str) -> Instance | Unsure | None:
        """None if the cloud has just said that there is none."""
        now = time.monotonic()
        with self.lock:
            one, seen = self.found.get(instance, (None, 0.0))
            if one and now - seen < (BELIEVED_SECONDS if one.state == "running" else self.source.absent_seconds):
                return one
            if not one and now - self.missing.get(instance, (0.0, -1e9))[1] < self.source.absent_seconds:
                return None
            self.wanted.add(instance)
            self.wake.set()
            return Unsure(f"{self.name} is asked for {instance}" + (f": {self.problem}" if self.problem else ""))

    def run(self) -> None:
        """For ever."""
        while True:
            self.wake.wait(
                max(0.0, self.listed + self.source.period_seconds - time.monotonic()) if self.listed else 0.0
            )
            if self.wake.is_set():
                time.sleep(GATHER_SECONDS)
            self.step()

    def step(self) -> None:
        """One round of questions."""
        with self.lock:
            wanted, self.wanted = self.wanted, set()
            self.wake.clear()
        due = time.monotonic() - self.listed >= self.source.period_seconds or not self.listed
        try:
            if wanted:
                self.learn(self.source.some(wanted), wanted)
                self.answered()
            if due:
                self.learn(self.source.all(), ())
                self.answered_at = time.monotonic()
            problem = ""
        except (OSError, Refused) as error:
            problem = str(error)[:300]
        if due:
            self.listed = time.monotonic()
        if problem and problem != self.problem:
            say(f"{self.source.what} in {self.name} does not tell its instances: {problem}")
        if self.problem and not problem and self.answered_at > -1e9:
            say(f"{self.source.what} in {self.name} tells its instances again")
        self.problem = problem

    def learn(self, told: Collection[Instance], asked: Collection[str]) -> None:
        """What the cloud answered; of `asked` those that are not in it do not exist."""
        now = time.monotonic()
        with self.lock:
            alive = set()
            for one in told:
                if one.state in ALIVE:
                    alive.add(one.id)
                    self.missing.pop(one.id, None)
                self.found[one.id] = (one, now)
            self.known |= alive
            for instance in set(asked) - alive:
                first, _ = self.missing.get(instance, (now, now))
                self.missing[instance] = (first, now)
                if instance not in {one.id for one in told}:
                    self.found.pop(instance, None)
            self.found = {n: (i, at) for n, (i, at) in self.found.items() if now - at < 4 * BELIEVED_SECONDS}
            # What nobody asks about any more is forgotten.
            self.missing = {n: times for n, times in self.missing.items() if now - times[1] < 4 * BELIEVED_SECONDS}

    def gone(self, instance: str, seconds: float) -> bool:
        """Whether the cloud said in two answers, so far apart, that there is none; asks again for the next time."""
        now = time.monotonic()
        with self.lock:
            one, seen = self.found.get(instance, (None, 0.0))
            if now - self.answered_at > BELIEVED_SECONDS or (
                one and one.state in ALIVE and now - seen < BELIEVED_SECONDS
            ):
                return False
            self.wanted.add(instance)
            self.wake.set()
            first, last = self.missing.get(instance, (0.0, 0.0))
            return last - first >= seconds

    def forget(self, instance: str) -> None:
        with self.lock:
            self.known.discard(instance)


class Instances:
    """Of all regions."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self.regions = {name: Region(name, source) for name, source in sources.items()}

    def start(self, answered: Callable[[], None]) -> None:
        """`answered` is called when a cloud has told of those that were asked for."""
        for region in self.regions.values():
            region.answered = answered
            threading.Thread(target=region.run, daemon=True).start()

    def look(self, instance: str, regions: Collection[str]) -> Instance | Unsure | None:
        """In any of some regions. None only if each of them says so."""
        unsure: Unsure | None = None
        for name in sorted(regions):
            found = self.regions[name].look(instance)
            if isinstance(found, Instance):
                return found
            unsure = found or unsure
        return unsure
