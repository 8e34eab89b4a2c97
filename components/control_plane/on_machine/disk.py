"""One disk of this machine: waits for its device, makes a file system on a blank one, and gives it its name."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from machine import say

# Not below /dev: for a path there systemd waits for a device of udev's, which a link made by hand never becomes.
LINKS = Path("/run/landbridge/disks")
LOOK_SECONDS = 2.0
BLANK_BYTES = 1 << 20
NOTHING_FOUND = 2  # blkid's status


class NotYet(Exception):
    """The disk is not here; the text says why."""


class Disk:
    """What is the same in every cloud. A cloud's own class knows how it is attached, and as which device."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.name: str = told["name"]
        self.reported = ""

    def say(self, text: str) -> None:
        """Once, however often it is found."""
        if text != self.reported:
            say(f"{self.name}: {text}")
        self.reported = text

    def attach(self) -> None:
        """Asks for the attachment, where that is the machine's own work. Raises NotYet."""

    def device(self) -> Path:
        """As soon as it is there. Raises NotYet."""
        raise NotImplementedError

    def link(self) -> None:
        device = self.device()
        kind = file_system(device)
        if not kind:
            self.say(f"{device} is blank: makes a file system")
            subprocess.run(["mkfs.ext4", "-q", str(device)], check=True)
        LINKS.mkdir(parents=True, exist_ok=True)
        draft = LINKS / f".{self.name}"
        draft.unlink(missing_ok=True)
        draft.symlink_to(device)
        draft.replace(LINKS / self.name)
        self.say(f"ready: {LINKS / self.name} leads to {device}")

    def wait(self, seconds: float, until: Callable[[], bool]) -> None:
        deadline = time.monotonic() + seconds
        while not until():
            if time.monotonic() > deadline:
                raise NotYet(f"still so after {seconds:.0f} s: {self.reported}")
            time.sleep(LOOK_SECONDS)


def file_system(device: Path) -> str:
    """What is on a device; empty if it was never written. Anything else that blkid does not know is an error."""
    asked = ["blkid", "-o", "value", "-s", "TYPE", str(device)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if done.returncode == 0 and done.stdout.strip():
        return done.stdout.strip()
    if done.returncode != NOTHING_FOUND:
        said = done.stderr.strip() or "another kind of content than a file system"
        raise NotYet(f"blkid {device} ended with status {done.returncode}: {said}. Nothing is written to it")
    if not device.is_dir():
        with device.open("rb") as file:
            if any(file.read(BLANK_BYTES)):
                raise NotYet(f"{device} has data but no file system that blkid knows: nothing is written to it")
    return ""
