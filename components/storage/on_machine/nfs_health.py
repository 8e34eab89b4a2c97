"""Whether the shares are served, have snapshots, leave for the bucket and have room: a unit that fails when not.

What it finds is in its journal, and as metrics in a file that node exporters read (their textfile collector).
"""

import datetime
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from machine import say, settings, write
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


class Measured(NamedTuple):
    """One metric; `wrong` says what is wrong with it, empty when nothing is."""

    name: str
    share: str
    value: float
    wrong: str = ""


def measured(told: Any, now: datetime.datetime) -> Iterator[Measured]:
    root = Path(told["root"])
    disk, threads = root.is_mount(), int(THREADS.read_text()) if THREADS.exists() else 0
    why = "the kernel serves no NFS" if disk else f"there is no disk at {root}"
    served = disk and threads > 0
    yield Measured("landbridge_nfs_served", "", float(served), "" if served else f"the shares are not served: {why}")
    if disk:
        space = os.statvfs(root)
        full = 1 - space.f_bavail / space.f_blocks
        yield Measured("landbridge_nfs_full_ratio", "", full, "" if full < FULL else f"the disk is {full:.0%} full")
    for share in told["shares"]:
        name = share["name"]
        taken = stamps(Path(told["snapshots"]) / name)[-1:]
        yield _age("snapshot", name, taken, SNAPSHOT_HOURS, now)
        if told["backup"] and share["backup"]:
            brought = sorted(found.name.removesuffix(INDEX) for found in (STATE / name).glob(f"[0-9]*{INDEX}"))
            yield _age("backup", name, brought[-1:], BACKUP_HOURS, now)


def _age(what: str, share: str, newest: list[str], most_hours: float, now: datetime.datetime) -> Measured:
    name = f"landbridge_nfs_{what}_age_seconds"
    if not newest:
        return Measured(name, share, float("inf"), f"share {share} has no {what}")
    taken = datetime.datetime.strptime(newest[0], STAMP).replace(tzinfo=datetime.UTC)
    seconds = (now - taken).total_seconds()
    late = f"the newest {what} of share {share} is of {newest[0]}, {seconds / 3600:.1f} hours ago"
    return Measured(name, share, seconds, late if seconds > most_hours * 3600 else "")


def text(found: list[Measured]) -> str:
    """In the form that Prometheus reads."""
    lines = []
    for name, about in NAMES.items():
        lines += [f"# HELP {name} {about}", f"# TYPE {name} gauge"]
        for one in found:
            if one.name == name:
                value = "+Inf" if one.value == float("inf") else f"{one.value:g}"
                whose = f'{{share="{one.share}"}}' if one.share else ""
                lines.append(f"{name}{whose} {value}")
    return "\n".join(lines) + "\n"


def main() -> None:
    found = list(measured(settings("nfs"), datetime.datetime.now(datetime.UTC)))
    METRICS.parent.mkdir(parents=True, exist_ok=True)
    write(METRICS, text(found))
    wrong = [one.wrong for one in found if one.wrong]
    for what in wrong:
        say(f"ERROR: {what}")
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
