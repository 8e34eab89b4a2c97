"""Has chrony follow the time that a machine's cloud gives it: firewalls there let nothing out to servers elsewhere.

EC2 user guide, "Set the time reference on your EC2 instance to use the local Amazon Time Sync Service"; Azure docs,
"Time sync for Linux VMs in Azure". Machines of no cloud keep to what the distribution has, or their DHCP says.
"""

import time
from pathlib import Path

from boot import ASSET, AZURE, VENDOR, read

FILE = Path("/etc/chrony/conf.d/landbridge.conf")
# The host's clock. chrony does not start where a device that it is to follow is not there.
DEVICE, PATIENCE_SECONDS = Path("/dev/ptp_hyperv"), 10
BY_HOST = "refclock PHC {device} poll 3 dpoll -2 offset 0 stratum 2\n"
BY_LINK = "server 169.254.169.123 prefer iburst minpoll 4 maxpoll 4\n"


def source() -> str:
    """A line of chrony's settings, or none."""
    if read(VENDOR) == "Amazon EC2":
        return BY_LINK
    if read(ASSET) == AZURE and appears(DEVICE):
        return BY_HOST.format(device=DEVICE)
    return ""


def appears(device: Path) -> bool:
    last = time.monotonic() + PATIENCE_SECONDS
    while not device.exists():
        if time.monotonic() > last:
            return False
        time.sleep(0.2)
    return True


def main() -> None:
    FILE.parent.mkdir(parents=True, exist_ok=True)
    # Written at each start: an image's machine may be another's disk, in another cloud.
    FILE.write_text(source())


if __name__ == "__main__":
    main()
