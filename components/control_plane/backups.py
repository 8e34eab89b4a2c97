"""Snapshots of both etcd rings to the fleet bucket, checked before they leave the machine."""

from components.storage.places import BACKUPS, COPIES

from .machines import ClusterSpec
from .rings import RINGS, Ring
from .units import UNITS, cloud_files, script, scripts, unit

# The other members' turns after a leader that fails, see on_machine/etcd_backup.py; and the snapshot itself.
GRACE_MINUTES = 7


def place(cluster: str, ring: Ring | None = None) -> str:
    """Where in the bucket a cluster's snapshots lie: backups/main/events/2026-01-01T120000Z-4711.db."""
    return f"{BACKUPS}/{cluster}" + (f"/{ring.name}" if ring else "")


def copies_place(home: str, cluster: str) -> str:
    """The same in the second region's bucket, where clusters of several homes may have theirs."""
    return f"{COPIES}/{home}/{cluster}"


def files(spec: ClusterSpec) -> dict[str, str]:
    made = {**cloud_files(spec.cloud), **scripts("ring", "etcd_backup")}
    for ring in RINGS:
        made[f"{UNITS}/etcd-backup-{ring.name}.service"] = _service(ring)
        made[f"{UNITS}/etcd-backup-{ring.name}.timer"] = _timer(ring)
    return made


def _service(ring: Ring) -> str:
    return unit(
        {
            "Unit": [
                ("Description", f"A snapshot of etcd {ring.name} to the fleet bucket"),
                ("After", f"etcd-{ring.name}.service"),
            ],
            "Service": [
                ("Type", "oneshot"),
                ("ExecStart", script("etcd_backup", ring.name)),
                # Before the next one is due: a hanging snapshot must not keep it from being taken.
                ("TimeoutStartSec", f"{ring.backup_minutes * 60 - 30}"),
                ("Nice", "10"),
            ],
        }
    )


def _timer(ring: Ring) -> str:
    # Not made up for after a start: members of a ring start one after another, and the next moment is near.
    moments = "*:00" if ring.backup_minutes == 60 else f"*:0/{ring.backup_minutes}"
    return unit(
        {
            "Unit": [("Description", f"Every {ring.backup_minutes} minutes: a snapshot of etcd {ring.name}")],
            "Timer": [("OnCalendar", moments)],
        }
    )
