"""Whether the shares are served, have snapshots, leave for the bucket and have room: a unit that fails when not."""

import datetime
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from health import Measured, report
from machine import settings
from nfs_snapshot import INDEX, STAMP, stamps

THREADS = Path("/proc/fs/nfsd/threads")
STATE, METRICS = Path("/var/lib/landbridge/nfs"), Path("/var/lib/landbridge/metrics/nfs.prom")
# Two missed: a snapshot is due each hour, a backup each day within an hour.
SNAPSHOT_HOURS, BACKUP_HOURS = 2.5, 26.0
FULL = 0.9
NAMES = {
    "landbridge_nfs_served": "1 if the kernel serves the shares",
    "landbridge_nfs_full_ratio": "Part of the disk of the shares that is in use",
    "landbridge_nfs_snapshot_age_seconds": "Age of a share's newest snapshot",
    "landbridge_nfs_backup_age_seconds": "Age of what a share's newest backup holds",
}


def measured(told: Any, now: datetime.datetime) -> Iterator[Measured]:
    root = Path(told["root"])
    disk, threads = root.is_mount(), int(THREADS.read_text()) if THREADS.exists() else 0
    why = "the kernel serves no NFS" if disk else f"there is no disk at {root}"
    served = disk and threads > 0
    yield Measured("landbridge_nfs_served", float(served), "" if served else f"the shares are not served: {why}")
    if disk:
        space = os.statvfs(root)
        full = 1 - space.f_bavail / space.f_blocks
        yield Measured("landbridge_nfs_full_ratio", full, "" if full < FULL else f"the disk is {full:.0%} full")
    for share in told["shares"]:
        name = share["name"]
        taken = stamps(Path(told["snapshots"]) / name)[-1:]
        yield _age("snapshot", name, taken, SNAPSHOT_HOURS, now)
        if told["backup"] and share["backup"]:
            brought = sorted(found.name.removesuffix(INDEX) for found in (STATE / name).glob(f"[0-9]*{INDEX}"))
            yield _age("backup", name, brought[-1:], BACKUP_HOURS, now)


def _age(what: str, share: str, newest: list[str], most_hours: float, now: datetime.datetime) -> Measured:
    name = f"landbridge_nfs_{what}_age_seconds"
    label = f'share="{share}"'
    if not newest:
        return Measured(name, float("inf"), f"share {share} has no {what}", label)
    taken = datetime.datetime.strptime(newest[0], STAMP).replace(tzinfo=datetime.UTC)
    seconds = (now - taken).total_seconds()
    late = f"the newest {what} of share {share} is of {newest[0]}, {seconds / 3600:.1f} hours ago"
    return Measured(name, seconds, late if seconds > most_hours * 3600 else "", label)


def main() -> None:
    report(METRICS, NAMES, measured(settings("nfs"), datetime.datetime.now(datetime.UTC)))


if __name__ == "__main__":
    main()
