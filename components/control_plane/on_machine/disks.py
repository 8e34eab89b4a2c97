"""Brings this machine's volumes to it: finds them by their tags, attaches them, and makes a file system on a new one.

Never takes a volume away from anybody: while a predecessor still holds it, this waits. It does not give up either, but
says after each bounded wait what is missing and begins again: had the unit failed once, systemd would start nothing
that requires it, even when its next try succeeds.
"""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aws import Aws, metadata, say, settings

BY_ID = Path("/dev/disk/by-id")
# Not below /dev: for a path there systemd waits for a device of udev's, which a link made by hand never becomes.
LINKS = Path("/run/landbridge/disks")
FREE_SECONDS, ATTACH_SECONDS, DEVICE_SECONDS, LOOK_SECONDS = 600.0, 180.0, 120.0, 2.0
BLANK_BYTES = 1 << 20
NOTHING_FOUND = 2  # blkid's status


class NotYet(Exception):
    """The disk is not here; the text says why."""


class Disk:
    """One volume: its name in the tag `landbridge:disk`, and the device name under which it is attached."""

    def __init__(self, aws: Aws, told: dict[str, Any], instance: str) -> None:
        self.aws, self.instance = aws, instance
        self.name: str = told["name"]
        self.device: str = told["device"]
        self.tags: dict[str, str] = told["tags"]
        self.volume = ""
        self.said = ""

    def say(self, text: str) -> None:
        """Once, however often it is found."""
        if text != self.said:
            say(f"{self.name}: {text}")
        self.said = text

    def attach(self) -> None:
        """Asks for the attachment as soon as the volume is free."""
        self.wait(FREE_SECONDS, self.is_ours)

    def is_ours(self) -> bool:
        holder, state = self.look()
        if holder == self.instance:
            self.say(f"{self.volume} is {state} here")
            return True
        if holder or state != "available":
            self.say(f"{self.volume} is {state}{f' at {holder}' if holder else ''}: waits until it is free")
            return False
        self.say(f"{self.volume} is free: attaches it as {self.device}")
        self.aws.ec2("AttachVolume", VolumeId=self.volume, InstanceId=self.instance, Device=self.device)
        return True

    def look(self) -> tuple[str, str]:
        """Which instance holds the volume, if one does, and its state."""
        told: dict[str, str] = {}
        for number, (key, value) in enumerate(sorted(self.tags.items()), 1):
            told |= {f"Filter__{number}__Name": f"tag:{key}", f"Filter__{number}__Value__1": value}
        found = list(self.aws.ec2("DescribeVolumes", **told).iterfind("{*}volumeSet/{*}item"))
        if len(found) != 1:
            tags = ", ".join(f"{key}={value}" for key, value in sorted(self.tags.items()))
            raise NotYet(f"expected one volume with the tags {tags}, found {len(found)}")
        self.volume = found[0].findtext("{*}volumeId") or ""
        holder = found[0].find("{*}attachmentSet/{*}item")
        if holder is None:
            return "", found[0].findtext("{*}status") or ""
        return holder.findtext("{*}instanceId") or "", holder.findtext("{*}status") or ""

    def link(self) -> None:
        """Waits for the device, makes a file system on a blank one, and gives it its name."""
        self.wait(ATTACH_SECONDS, lambda: self.look() == (self.instance, "attached"))
        device = BY_ID / f"nvme-Amazon_Elastic_Block_Store_{self.volume.replace('-', '')}"
        self.wait(DEVICE_SECONDS, device.exists)
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
                raise NotYet(f"still so after {seconds:.0f} s: {self.said}")
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


def main() -> None:
    told: Any = settings("disks")
    aws = Aws(told["region"])
    while True:
        try:
            instance = metadata("instance-id").strip()
            disks = [Disk(aws, disk, instance) for disk in told["disks"]]
            for disk in disks:
                disk.attach()
            for disk in disks:
                disk.link()
            return
        except Exception as problem:  # whatever it is, the next round may be better
            say(f"no disks yet: {problem or type(problem).__name__}. Tries again in {5 * LOOK_SECONDS:.0f} s.")
        time.sleep(5 * LOOK_SECONDS)


if __name__ == "__main__":
    main()
