"""A snapshot of a ring, now, into the fleet bucket: by the same script that the machines' timers run."""

import json
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ..cluster.info import ClusterInfo
from ..reach import Reach
from .hands import SCRIPTS, Hands
from .ring import Ctl, EtcdError, View
from .store import STAMP, Store

BACKUP_SECONDS = 900.0


class Backup(NamedTuple):
    """What lies in the bucket now."""

    ring: str
    key: str
    member: str
    revision: int
    keys: int
    bytes: int
    sha256: str
    taken: datetime

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


def backup(reach: Reach, info: ClusterInfo, store: Store, ring: str) -> Backup:
    """Taken from a follower if there is a healthy one, and looked for in the bucket. Raises LandbridgeError."""
    machine = source(Ctl(reach, info).look(ring), info)
    command = ("python3", f"{SCRIPTS}/etcd_backup.py", ring, "--now")
    out = Hands(reach).do(machine, f"the backup of etcd {ring}", *command, seconds=BACKUP_SECONDS)
    told = json.loads(out.strip().splitlines()[-1])
    taken = datetime.strptime(told["taken"], STAMP).replace(tzinfo=UTC)
    numbers = int(told["revision"]), int(told["keys"]), int(told["bytes"])
    made = Backup(ring, told["key"], told["member"], *numbers, told["sha256"], taken)
    there = {one.key: one.size for one in store.listed(made.key)}.get(made.key)
    if there != made.bytes:
        found = "it is not there" if there is None else f"it has {there} bytes there"
        raise EtcdError(
            f"The snapshot of etcd {ring} has {made.bytes} bytes and did not reach the bucket whole: {found} "
            f"(s3://{info.bucket}/{made.key}). Delete it; see the unit etcd-backup-{ring} on {machine}."
        )
    return made


def source(view: View, info: ClusterInfo) -> str:
    """The machine whose member is to be read."""
    answering = [member for member in view.members if member.answers and not member.learner]
    if not answering:
        raise EtcdError(
            f"No member of {info.name}'s etcd {view.ring} answers, so there is nothing to back up from"
            f"{f': {view.why}' if view.why else ''}. See the runbook etcd-quorum-lost."
        )
    return min(answering, key=lambda member: (member.leader, -(member.applied or 0), member.name)).name
