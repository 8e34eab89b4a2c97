"""Whether a ring's newest snapshot at home is as new as its timer makes it: what is lost in the worst case."""

from datetime import UTC, datetime, timedelta

from components.control_plane.backups import GRACE_MINUTES

from .restore_command import old
from .ring import RING

GRACE = timedelta(minutes=GRACE_MINUTES)


def late(ring: str, newest: datetime | None) -> str:
    """What is wrong; empty if nothing is. A ring without a snapshot may be too young for one."""
    every = RING[ring].backup_minutes
    if newest is None or datetime.now(UTC) - newest <= timedelta(minutes=every) + GRACE:
        return ""
    return (
        f"its newest snapshot is {old(newest)} old, though one is due every {every} min: so much can be lost. "
        f"See the unit etcd-backup-{ring} on etcd machines; `landbridge etcd backup --ring {ring}` takes one now"
    )
