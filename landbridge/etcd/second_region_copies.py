"""Copies of a cluster's snapshots and keys in a second region: what is there, and whether it is as new as it ought."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from rich.text import Text

from landbridge.clouds.cloud import CloudError
from landbridge.cluster.session import Session

from . import store as stores
from .restore_command import old
from .ring import RING


class Newest(NamedTuple):
    """The newest copy of a ring's snapshots. `late` says what is wrong with it, and is empty if nothing is."""

    ring: str
    region: str
    bucket: str
    key: str | None
    taken: datetime | None
    late: str

    def line(self) -> Text:
        what = Text.assemble((f"etcd {self.ring}: ", "bold"))
        text = f"newest copy in {self.region} {old(self.taken)} old" if self.taken else ""
        return what.append(text).append(", " if text and self.late else "").append(self.late, style="yellow")


def newest(session: Session, ring: str) -> Newest | None:
    """None for a cluster without copies."""
    if not (where := session.info.copies):
        return None
    region, bucket, prefix = where["region"], where["bucket"], f"{where['prefix']}/{ring}/"
    try:
        store = session.cloud_at(region, hasty=True).bucket(bucket)
        found = stores.below(store, prefix)
    except CloudError as error:
        return Newest(ring, region, bucket, None, None, f"{region} does not say what copies it has: {error}")
    if not found:
        return Newest(ring, region, bucket, None, None, f"no copy in {region} yet: {store.where(prefix)} is empty")
    taken = stores.taken(found[-1])
    late = datetime.now(UTC) - taken > due(ring)
    why = f"which is late: see the unit etcd-backup-{ring} on the etcd machines" if late else ""
    return Newest(ring, region, bucket, found[-1].key, taken, why)


def due(ring: str) -> timedelta:
    """One may fail; with the second something is wrong."""
    return timedelta(minutes=2 * RING[ring].backup_minutes)


def keys(session: Session) -> str:
    """What is wrong with the copy of the cluster's keys; empty if nothing is, or if there is to be none."""
    where: Mapping[str, Any] = session.info.copies
    if not where:
        return ""
    name, region = where["recovery_secret"], where["region"]
    try:
        there = session.cloud_at(region, hasty=True).has_secret(name)
    except CloudError as error:
        return f"keys: {region} has no copy of {name} that it tells of: {error}"
    return "" if there else f"keys: {region} has no copy of {name}"
