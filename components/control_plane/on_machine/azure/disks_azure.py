"""A machine's disks on Azure: the machine was made with them, each under a number, its LUN."""

from pathlib import Path
from typing import Any

from disk import Disk

# The first is of udev's rules for SCSI (walinuxagent), the second of those for NVMe as well (azure-vm-utils).
PLACES = ("/dev/disk/azure/scsi1/lun{}", "/dev/disk/azure/data/by-lun/{}")
DEVICE_SECONDS = 120.0


class Lun(Disk):
    def __init__(self, told: dict[str, Any]) -> None:
        super().__init__(told)
        self.places = [Path(place.format(told["lun"])) for place in PLACES]

    def device(self) -> Path:
        self.say(f"waits for {' or '.join(map(str, self.places))}")
        self.wait(DEVICE_SECONDS, lambda: any(place.exists() for place in self.places))
        return next(place for place in self.places if place.exists())


def disks(told: Any) -> list[Disk]:
    return [Lun(one) for one in told["disks"]]
