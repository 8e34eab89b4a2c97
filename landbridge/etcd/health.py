"""In one row whether a ring is healthy, how full it is, and how old its newest snapshot is."""

from typing import Any

from landbridge.cluster.session import Session

from . import snapshot_age
from . import store as stores
from .ring import FULL, View


def verdict(session: Session, view: View) -> dict[str, Any]:
    """`ails` says what is wrong in words, `full` is the part of the quota that is used, None where it is not known."""
    ails = view.ails(session.info.etcd)
    full = max((m.db_bytes / m.quota_bytes for m in view.members if m.db_bytes and m.quota_bytes), default=None)
    if full is not None and full > FULL:
        ails.append(f"its database has {full:.0%} of the quota: see the runbook etcd-quota-full")
    found = stores.scheduled(session.bucket, session.info.name, view.ring)
    newest = stores.taken(found[-1]) if found else None
    if late := snapshot_age.late(view.ring, newest):
        ails.append(late)
    return {
        "ring": view.ring,
        "healthy": not ails,
        "ails": ails,
        "leader": view.leader.name if view.leader else None,
        "full": full,
        "snapshots": len(found),
        "newest_snapshot": newest,
    }
