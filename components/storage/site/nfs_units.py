"""Units of a site's NFS server: its disk, its shares, snapshots and backups by timers, and its health."""

from components.control_plane.units import script, unit

from .nfs_spec import NfsSpec

TARGET = "landbridge-nfs.target"
HEALTH_SECONDS = 900
# Timer → when, and how long it may wait by chance: sites must not all come to the bucket at once.
MOMENTS = {"snapshot": ("hourly", "2m"), "backup": ("*-*-* 01:30:00", "1h")}


def units(root: str, label: str, spec: NfsSpec) -> dict[str, str]:
    """Name → text."""
    mount = f"{root.strip('/').replace('/', '-')}.mount"
    made = {
        mount: _mount(root, label),
        "landbridge-nfs-shares.service": _shares(root),
        # The distribution's own unit serves: never before the disk is there, or clients would see empty folders.
        "nfs-server.service.d/landbridge.conf": unit(
            {
                "Unit": [
                    ("RequiresMountsFor", root),
                    ("Requires", "landbridge-nfs-shares.service"),
                    ("After", "landbridge-nfs-shares.service"),
                ]
            }
        ),
        **_timed("snapshot", "A snapshot of every share", root),
        "landbridge-nfs-health.service": _work(
            "Whether shares are served, kept and backed up", "nfs_health", most=f"{HEALTH_SECONDS}"
        ),
        "landbridge-nfs-health.timer": unit(
            {
                "Unit": [("Description", "Looks after the site's NFS server")],
                "Timer": [("OnBootSec", "10m"), ("OnUnitActiveSec", f"{HEALTH_SECONDS}")],
            }
        ),
    }
    if spec.backup:
        made |= _timed("backup", f"What is new in the shares to s3://{spec.backup.bucket}/{spec.backup.prefix}", root)
    wanted = [mount, "nfs-server.service", *(name for name in made if name.endswith(".timer"))]
    made[TARGET] = unit(
        {
            "Unit": [("Description", f"The NFS server of {spec.site}"), *(("Wants", name) for name in sorted(wanted))],
            "Install": [("WantedBy", "multi-user.target")],
        }
    )
    return made


def _mount(root: str, label: str) -> str:
    return unit(
        {
            "Unit": [("Description", "The disk of the site's shares")],
            "Mount": [
                ("What", f"/dev/disk/by-label/{label}"),
                ("Where", root),
                ("Type", "xfs"),
                # Projects are counted from the first mount on: quotas can't be switched on later.
                ("Options", "prjquota,noatime,nodev,nosuid"),
            ],
        }
    )


def _shares(root: str) -> str:
    return unit(
        {
            "Unit": [("Description", "Folders and quotas of the site's shares"), ("RequiresMountsFor", root)],
            "Service": [("Type", "oneshot"), ("RemainAfterExit", "yes"), ("ExecStart", script("nfs_shares"))],
        }
    )


def _timed(name: str, description: str, root: str) -> dict[str, str]:
    moments, spread = MOMENTS[name]
    return {
        f"landbridge-nfs-{name}.service": _work(description, f"nfs_{name}", ("RequiresMountsFor", root)),
        f"landbridge-nfs-{name}.timer": unit(
            {
                "Unit": [("Description", description)],
                "Timer": [("OnCalendar", moments), ("RandomizedDelaySec", spread), ("Persistent", "true")],
            }
        ),
    }


def _work(description: str, name: str, *more: tuple[str, str], most: str = "infinity") -> str:
    """Behind everybody's reads and writes: a work of hours must not slow the shares down. `most`: seconds it may take.

    The first backup may take days.
    """
    return unit(
        {
            "Unit": [("Description", description), *more],
            "Service": [
                ("Type", "oneshot"),
                ("ExecStart", script(name)),
                ("Nice", "10"),
                ("IOSchedulingClass", "idle"),
                ("TimeoutStartSec", most),
            ],
        }
    )
