"""Timer units: start another unit at moments or after times."""

import random
import time
from datetime import UTC, datetime
from pathlib import Path

from .loop import Alarm
from .runner import Outcome, Owner, Runner
from .units import Unit

STAMPS = Path("/var/lib/systemd/timers")


class Timer(Runner):
    """A timer unit. While what it started runs, it waits."""

    def __init__(self, owner: Owner, unit: Unit) -> None:
        super().__init__(owner, unit)
        self.alarm = Alarm(lambda: None)
        self.next: float | None = None  # on the monotonic clock
        self.boot_done: Unit | None = None  # the reading of its file for which OnBootSec= has gone off
        self.last_trigger: float | None = None
        self.last_calendar = datetime.now(UTC)
        self.watched: Runner | None = None

    @property
    def target(self) -> str:
        return self.unit["Unit"] or f"{self.unit.stem}.service"

    @property
    def stamp(self) -> Path:
        return STAMPS / f"stamp-{self.name}"

    def go(self) -> None:
        self.last_trigger = None
        self.last_calendar = datetime.now(UTC)
        if self.unit["Persistent"]:
            self.remember()
        self.enter("active", "waiting")
        self.answer("done")
        self.arm()

    def remember(self) -> None:
        """Counts from the last time it went off, before this boot too; the first time, from now."""
        if self.stamp.exists():
            self.last_calendar = datetime.fromtimestamp(self.stamp.stat().st_mtime, UTC)
        else:
            self.stamp.parent.mkdir(parents=True, exist_ok=True)
            self.stamp.touch()

    def moments(self) -> list[float]:
        """When it could go off next, on the monotonic clock."""
        now = time.monotonic()
        found = []
        if self.unit["OnBootSec"] is not None and self.boot_done is not self.unit:
            boot = self.owner.born + self.unit["OnBootSec"]
            # It goes off once: a moment that has passed counts only for a timer that has just been started.
            found += [boot] if self.last_trigger is None or boot >= now else []
        # From its last try too: a unit that a condition skips is not tried again and again.
        starts = [at for at in (self.owner.runner(self.target).started_at, self.last_trigger) if at is not None]
        if self.unit["OnUnitActiveSec"] is not None and starts:
            found.append(max(starts) + self.unit["OnUnitActiveSec"])
        moments = [calendar.after(self.last_calendar) for calendar in self.unit["OnCalendar"]]
        return found + [now + (moment - datetime.now(UTC)).total_seconds() for moment in moments if moment]

    def arm(self) -> None:
        self.alarm.cancel()
        self.next = None
        if self.state != "active":
            return
        self.watch()
        if moments := self.moments():
            # Not a secret, only a spread.
            self.next = min(moments) + random.uniform(0, self.unit["RandomizedDelaySec"])  # noqa: S311
            self.sub = "waiting"
            self.alarm = self.owner.loop.after(max(0.0, self.next - time.monotonic()), self.elapse)

    def watch(self) -> None:
        """Is told when the unit starts and ends: OnUnitActiveSec= counts from its start, whoever started it."""
        runner = self.owner.runner(self.target)
        if self.watched is not runner:
            self.watched = runner
            runner.watchers.append(self.unit_changed)

    def elapse(self) -> None:
        self.last_trigger = time.monotonic()
        if self.owner.born + (self.unit["OnBootSec"] or 0.0) <= self.last_trigger:
            self.boot_done = self.unit
        self.last_calendar = datetime.now(UTC)
        self.next = None
        if self.unit["Persistent"]:
            self.stamp.touch()
        self.sub = "running"
        self.owner.enqueue_start([self.target], self.started)

    def started(self, _how: str) -> None:
        # Skipped by its condition, or failed before its state changed: nothing else would wake the timer.
        self.unit_changed()

    def unit_changed(self) -> None:
        runner = self.owner.runner(self.target)
        idle = runner.state in ("inactive", "failed")
        if self.state == "active" and (idle or self.sub == "waiting"):
            self.arm()

    def stop(self, outcome: Outcome) -> None:
        self.alarm.cancel()
        super().stop(outcome)

    def details(self) -> list[str]:
        if self.next is None:
            return [f"Triggers: {self.target}"]
        return [f"Triggers: {self.target} in {self.next - time.monotonic():.0f} s"]
