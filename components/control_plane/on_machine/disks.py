"""Brings this machine's disks to it, each under its name, and makes a file system on a new one.

Does not give up, but says after each bounded wait what is missing and begins again: had the unit failed once, systemd
would start nothing that requires it, even when its next try succeeds.
"""

import time
from typing import Any

from cloud import named
from disk import LOOK_SECONDS, Disk
from machine import say, settings


def own(told: Any) -> list[Disk]:
    """By the cloud that this machine is in. Raises OSError or NotYet."""
    if named() == "azure":
        from disks_azure import disks
    else:
        from disks_aws import disks
    return disks(told)


def main() -> None:
    told: Any = settings("disks")
    while True:
        try:
            disks = own(told)
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
