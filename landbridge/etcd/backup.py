"""A snapshot of a ring, now, into the fleet bucket: by the same script that the machines' timers run."""

import json
from datetime import UTC, datetime
from typing import Any, NamedTuple

from landbridge.cluster.info import ClusterInfo
from landbridge.remote_execution import CommandResult, RemoteExecution

from .machine_steps import SCRIPTS, MachineSteps, StepError
from .ring import Ctl, EtcdError, View
from .store import STAMP, Store

BACKUP_SECONDS = 900.0


class Backup(NamedTuple):
    """What lies in the bucket now; `copy` is where it lies in the second region: {"region", "bucket", "key"}."""

    ring: str
    key: str
    member: str
    revision: int
    keys: int
    bytes: int
    sha256: str
    taken: datetime
    copy: dict[str, str] | None = None

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


def backup(remote: RemoteExecution, info: ClusterInfo, store: Store, ring: str) -> Backup:
    """Taken from a follower if there is a healthy one, and looked for in the bucket. Raises LandbridgeError."""
    machine = source(Ctl(remote, info).look(ring), info)
    command = ("python3", f"{SCRIPTS}/etcd_backup.py", ring, "--now")
    result = MachineSteps(remote).ask(machine, *command, seconds=BACKUP_SECONDS)
    report = _parse_result(result)
    if report is None:
        raise StepError(f"{machine}: the backup of etcd {ring} failed: {result.why}")
    taken = datetime.strptime(report["taken"], STAMP).replace(tzinfo=UTC)
    numbers = int(report["revision"]), int(report["keys"]), int(report["bytes"])
    copied = report.get("copy")
    copy = {name: copied[name] for name in ("region", "bucket", "key")} if copied else None
    made = Backup(ring, report["key"], report["member"], *numbers, report["sha256"], taken, copy)
    there = {one.key: one.size for one in store.listed(made.key)}.get(made.key)
    if there != made.bytes:
        found = "it is not there" if there is None else f"it has {there} bytes there"
        raise EtcdError(
            f"The snapshot of etcd {ring} has {made.bytes} bytes and did not reach the bucket whole: {found} "
            f"({store.where(made.key)}). Delete it; see the unit etcd-backup-{ring} on {machine}."
        )
    if result.code != 0:
        raise EtcdError(
            f"The snapshot of etcd {ring} is whole at home, {store.where(made.key)}, but not in the second "
            f"region: {(copied or {}).get('error') or result.why}. Try again when that region answers."
        )
    return made


def _parse_result(result: CommandResult) -> dict[str, Any] | None:
    """The last line, which comes as soon as the snapshot is in the bucket; None without it."""
    lines = result.out.strip().splitlines()
    try:
        return dict(json.loads(lines[-1])) if lines else None
    except ValueError:
        return None


def source(view: View, info: ClusterInfo) -> str:
    """The machine whose member is to be read."""
    answering = [member for member in view.members if member.answers and not member.learner]
    if not answering:
        raise EtcdError(
            f"No member of {info.name}'s etcd {view.ring} answers, so there is nothing to back up from"
            f"{f': {view.why}' if view.why else ''}. See the runbook etcd-quorum-lost."
        )
    return min(answering, key=lambda member: (member.leader, -(member.applied or 0), member.name)).name
