"""Mount units: a folder appears at another place. On local machines a volume is a folder, whatever its file system.

A server's file system is none here: the kernel that mounts it is the laptop's own, and knows no network of ours.
"""

import time
from pathlib import Path

from . import disk, kernel
from .directives import REMOTE
from .loop import Alarm
from .runner import Outcome, Owner, Runner
from .units import Unit

# A device is waited for as long as systemd does, since volumes are attached to machines that run.
DEVICE_SECONDS = 90.0
LOOK_AGAIN_SECONDS = 0.1


class Mount(Runner):
    """A mount unit."""

    def __init__(self, owner: Owner, unit: Unit) -> None:
        super().__init__(owner, unit)
        self.alarm = Alarm(lambda: None)
        self.deadline = 0.0

    def go(self) -> None:
        self.deadline = time.monotonic() + DEVICE_SECONDS
        self.enter("activating", "mounting")
        self.check_device()

    def check_device(self) -> None:
        if self.unit["Type"] in REMOTE:
            return self.fail(f"{self.unit['What']}: local machines mount no {self.unit['Type']}")
        what = Path(self.unit["What"])
        if what.is_dir():
            volume = disk.record(what)
            has = volume["type"] if volume else None
            if volume and (has is None or has != (self.unit["Type"] or has)):
                return self.fail(f"wrong file system: {what} has {has or 'none'}, not {self.unit['Type'] or 'any'}")
            return self.mount(what / "data" if volume else what, Path(self.unit["Where"]))
        if what.is_relative_to("/dev") and not what.exists() and time.monotonic() < self.deadline:
            self.alarm = self.owner.loop.after(LOOK_AGAIN_SECONDS, self.check_device)
            return None
        return self.fail(f"{what} is no folder" if what.exists() else f"{what} does not exist")

    def mount(self, what: Path, where: Path) -> None:
        try:
            where.mkdir(parents=True, exist_ok=True)
            flags = 0
            for flag in self.unit["Options"]:
                flags |= flag
            kernel.bind(what, where, flags)
        except OSError as error:
            return self.fail(str(error))
        self.enter("active", "mounted")
        self.answer("done")
        return None

    def fail(self, reason: str) -> None:
        self.say(reason)
        self.result = "exit-code"
        self.enter("failed", "failed")
        self.answer("failed")

    def stop(self, outcome: Outcome) -> None:
        self.alarm.cancel()
        self.answer("canceled")
        if self.state == "active":
            try:
                kernel.unmount(Path(self.unit["Where"]))
            except OSError as error:
                self.say(f"cannot be unmounted: {error.strerror}")
                return outcome("failed")
        self.enter("inactive", "dead")
        return outcome("done")


class Automount(Runner):
    """An automount unit. As with systemd, none starts where there is no autofs, which no local machine has."""

    def go(self) -> None:
        self.say("there is no autofs")
        self.result = "unsupported"
        self.enter("failed", "failed")
        self.answer("failed")
