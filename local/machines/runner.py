"""What every kind of unit can: be started, be stopped, and tell how it is. Targets can no more than that."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from .logs import Logs
from .loop import Loop
from .units import Unit

# How a start or stop came out: done, skipped (a condition), failed, dependency, canceled.
Outcome = Callable[[str], None]
GOOD = ("done", "skipped")


class Owner(Protocol):
    """What a unit needs of its manager."""

    loop: Loop
    logs: Logs
    born: float
    stopping: bool

    def enqueue_start(self, names: list[str], outcome: Outcome) -> None: ...
    def runner(self, name: str) -> "Runner": ...
    def on_unit_exit(self, name: str) -> None: ...


class Runner:
    """A unit as it is now. `state` is systemd's: inactive, activating, active, deactivating, failed."""

    def __init__(self, owner: Owner, unit: Unit) -> None:
        self.owner, self.unit = owner, unit
        self.state, self.sub = "inactive", "dead"
        self.result = "success"
        self.since = datetime.now(UTC)
        self.started_at: float | None = None
        self.watchers: list[Callable[[], None]] = []
        self.starts: list[float] = []
        self.outcome: Outcome | None = None

    @property
    def name(self) -> str:
        return self.unit.name

    def say(self, text: str) -> None:
        self.owner.logs.say(self.name, text)

    def enter(self, state: str, sub: str) -> None:
        if self.state in ("inactive", "failed") and state in ("activating", "active"):
            self.started_at = time.monotonic()
        changed = self.state != state
        self.state, self.sub = state, sub
        if changed:
            self.since = datetime.now(UTC)
            for watcher in self.watchers:
                watcher()

    def answer(self, how: str) -> None:
        """Tells whoever waits for a start or a stop."""
        outcome, self.outcome = self.outcome, None
        if outcome:
            outcome(how)

    def start(self, outcome: Outcome) -> None:
        if self.state == "active":
            return outcome("done")
        if reason := self.unmet():
            self.say(f"skipped: {reason}")
            return outcome("skipped")
        if not self.admitted():
            self.result = "start-limit-hit"
            self.say(f"not started: more than {self.unit['StartLimitBurst']} starts within the limit's time")
            self.enter("failed", "failed")
            return outcome("failed")
        self.outcome = outcome
        self.result = "success"
        return self.go()

    def go(self) -> None:
        """Starts; ends in `answer`. For targets, there is nothing to do."""
        self.enter("active", "active")
        self.answer("done")

    def stop(self, outcome: Outcome) -> None:
        """Stops; ends in `outcome`."""
        self.enter("inactive", "dead")
        outcome("done")

    def check(self) -> None:
        """Called whenever processes have ended."""

    def unmet(self) -> str | None:
        """The condition that keeps the unit from starting."""
        anyone = []
        for path, must_lack, one_is_enough in self.unit["ConditionPathExists"]:
            met = Path(path).exists() != must_lack
            if one_is_enough:
                anyone.append(met)
            elif not met:
                return f"ConditionPathExists={'!' * must_lack}{path} is not met"
        return None if not anyone or any(anyone) else "none of the conditions ConditionPathExists=|… is met"

    def admitted(self) -> bool:
        """Counts a start, and whether the limit allows it."""
        interval, burst = self.unit["StartLimitIntervalSec"], self.unit["StartLimitBurst"]
        now = time.monotonic()
        if not interval or not burst:
            return True
        # As systemd counts: the time runs from its first start, not back from the last.
        if not self.starts or now - self.starts[0] >= interval:
            self.starts = []
        if len(self.starts) >= burst:
            return False
        self.starts.append(now)
        return True

    def reset(self) -> None:
        self.starts = []
        self.result = "success"
        if self.state == "failed":
            self.enter("inactive", "dead")

    def details(self) -> list[str]:
        """Lines that `status` shows beside the state."""
        return []
