"""A machine's volumes on AWS: found by their tags, and attached by the machine itself.

Never takes a volume away from anybody: while a predecessor still holds it, this waits.
"""

from pathlib import Path
from typing import Any

from api_aws import Aws, metadata
from disk import Disk, NotYet

BY_ID = Path("/dev/disk/by-id")
FREE_SECONDS, ATTACH_SECONDS, DEVICE_SECONDS = 600.0, 180.0, 120.0


class Volume(Disk):
    """Its name in the tag `landbridge:disk`, and the device name under which it is attached."""

    def __init__(self, aws: Aws, told: dict[str, Any], instance: str) -> None:
        super().__init__(told)
        self.aws, self.instance = aws, instance
        self.as_device: str = told["device"]
        self.tags: dict[str, str] = told["tags"]
        self.volume = ""

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
        self.say(f"{self.volume} is free: attaches it as {self.as_device}")
        self.aws.ec2("AttachVolume", VolumeId=self.volume, InstanceId=self.instance, Device=self.as_device)
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

    def device(self) -> Path:
        self.wait(ATTACH_SECONDS, lambda: self.look() == (self.instance, "attached"))
        found = BY_ID / f"nvme-Amazon_Elastic_Block_Store_{self.volume.replace('-', '')}"
        self.wait(DEVICE_SECONDS, found.exists)
        return found


def disks(told: Any) -> list[Disk]:
    """Raises OSError while this machine's own id can't be had."""
    aws, instance = Aws(told["region"]), metadata("instance-id").strip()
    return [Volume(aws, one, instance) for one in told["disks"]]
