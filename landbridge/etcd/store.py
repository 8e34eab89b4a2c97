"""Where snapshots lie: the fleet bucket. Machines put them there by their own right, and may read none.

For a restore each gets an address that is good for an hour, so no snapshot passes through the operator's computer.
"""

import re
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from landbridge.errors import LandbridgeError

STAMP = "%Y-%m-%dT%H%M%SZ"  # as the machines' own backups are called
NAME = re.compile(r"(\d{4}-\d\d-\d\dT\d{6}Z)-(\d+)\.db$")
URL_SECONDS = 3600


class Snapshot(NamedTuple):
    """One object in the bucket."""

    key: str
    size: int
    at: datetime


class Store(Protocol):
    """As much of the bucket (clouds/cloud.py) as snapshots need."""

    def where(self, key: str) -> str: ...

    def get_url(self, key: str) -> str: ...

    def put(self, key: str, data: bytes) -> None: ...

    def listed(self, prefix: str) -> list[Snapshot]: ...


def folder(cluster: str, ring: str) -> str:
    return f"backups/{cluster}/{ring}/"


def key(cluster: str, ring: str, revision: int, at: datetime, kind: str = "") -> str:
    """Sorted by time; the revision can be read off it."""
    return f"{folder(cluster, ring)}{kind}{at.astimezone(UTC):{STAMP}}-{revision}.db"


def scheduled(store: Store, cluster: str, ring: str) -> list[Snapshot]:
    """Snapshots of the ring as it lived, oldest first: not those of its remains, nor what was uploaded."""
    return below(store, folder(cluster, ring))


def below(store: Store, prefix: str) -> list[Snapshot]:
    """Snapshots right below a prefix, oldest first."""
    found = [one for one in store.listed(prefix) if NAME.fullmatch(one.key.removeprefix(prefix))]
    return sorted(found, key=lambda one: one.key)


def newest(store: Store, cluster: str, ring: str) -> Snapshot:
    """The last snapshot of a ring. Raises LandbridgeError when there is none, or when it may be of an empty ring."""
    found = scheduled(store, cluster, ring)
    if not found:
        raise LandbridgeError(
            f"There is no snapshot of {cluster}'s etcd {ring}: nothing lies under {folder(cluster, ring)} in the "
            "bucket. If a member's disk is left, restore from it: --survivor MACHINE."
        )
    last = max(found, key=lambda one: (taken(one), one.key))
    most = max(found, key=lambda one: (revision(one.key) or 0, one.key))
    # A restore raises revisions, so they fall in one case alone: machines came back with new disks, and timers went on.
    if (revision(most.key) or 0) > (revision(last.key) or 0):
        raise LandbridgeError(
            f"Nothing was changed: the newest snapshot of {cluster}'s etcd {ring} has revision {revision(last.key)}, "
            f"an older one {revision(most.key)}: the ring has begun anew in between, empty. Say which one you mean: "
            f"--from {most.key} goes back to what was before, --from {last.key} to what came since."
        )
    return last


def taken(one: Snapshot) -> datetime:
    """When the snapshot was taken: its name says that, and the bucket only when it was all there."""
    found = NAME.search(one.key)
    return datetime.strptime(found.group(1), STAMP).replace(tzinfo=UTC) if found else one.at


def revision(key: str) -> int | None:
    found = NAME.search(key)
    return int(found.group(2)) if found else None
