"""Out of a dead member's data folder: a snapshot with all that this member knew to be agreed on.

The database file alone lacks what stands only in the write-ahead log, so etcd itself reads both: alone, on a copy, with
--force-new-cluster, and on loopback ports that nobody else asks.
"""

from typing import NamedTuple

from landbridge.errors import LandbridgeError

from .machine_steps import MachineSteps
from .ring import parsed

PORTS = (23791, 23801)
READ_SECONDS = 120.0


class Left(NamedTuple):
    """What a machine's disk still holds. `dropped` are entries it had received without knowing them to be agreed on."""

    machine: str
    path: str
    revision: int
    dropped: int


def salvage(steps: MachineSteps, machine: str, ring: str) -> Left | None:
    """A snapshot file of what is left of the ring on this machine; None when nothing is. The member must be stopped."""
    data, copy = f"/var/lib/etcd/{ring}/data", f"/var/lib/etcd/{ring}/salvage"
    snapshot = f"/var/lib/etcd/{ring}/salvage.db"
    if not steps.exists(machine, f"{data}/member/wal"):
        return None
    try:
        steps.sh(machine, "copying its data", f"rm -rf {copy} {snapshot}; cp -a {data} {copy}", seconds=900)
        steps.sh(machine, "reading its data", script(copy, snapshot), seconds=READ_SECONDS + 30)
        log = steps.ask(machine, "cat", f"{copy}/etcd.log").out
        revision = int(steps.snapshot_status(machine, snapshot)["revision"])
    finally:
        steps.remove(machine, copy, f"{snapshot}.part")
    return Left(machine, snapshot, revision, dropped(log))


def script(copy: str, snapshot: str) -> str:
    client, peer = (f"http://127.0.0.1:{port}" for port in PORTS)
    flags = {
        "name": "salvage",
        "data-dir": copy,
        "listen-client-urls": client,
        "advertise-client-urls": client,
        "listen-peer-urls": peer,
        "initial-advertise-peer-urls": peer,
        "quota-backend-bytes": str(16 * 1024**3),
    }
    words = " ".join(f"--{name}={value}" for name, value in flags.items())
    ask = f"/usr/local/bin/etcdctl --endpoints={client} --dial-timeout=1s"
    return (
        f"/usr/local/bin/etcd --force-new-cluster {words} >{copy}/etcd.log 2>&1 & pid=$!; "
        "trap 'kill $pid; wait $pid || true' EXIT; "
        f"n=0; until {ask} endpoint health >/dev/null 2>&1; do "
        f"kill -0 $pid 2>/dev/null || {{ trap - EXIT; tail -n 3 {copy}/etcd.log >&2; exit 1; }}; "
        f"n=$((n + 1)); [ $n -lt {READ_SECONDS * 4:.0f} ] || {{ echo 'etcd does not come up' >&2; exit 1; }}; "
        "sleep 0.25; done; "
        f"{ask} --command-timeout=300s snapshot save {snapshot} >/dev/null"
    )


def dropped(log: str) -> int:
    """How many entries etcd says it threw away because this member did not know them to be agreed on."""
    for line in log.splitlines():
        if "discarding uncommitted WAL entries" in line:
            record = parsed(line)
            if isinstance(record, dict):
                return int(record["number-of-discarded-entries"])
    return 0


def newest(left: list[Left]) -> Left:
    """The one that knows most. Raises LandbridgeError when there is none."""
    if not left:
        raise LandbridgeError(
            "No etcd machine that can be reached has any data left: restore from the last snapshot in the bucket "
            "(--from newest)."
        )
    return max(left, key=lambda one: (one.revision, one.dropped, one.machine))


def forget(steps: MachineSteps, left: list[Left]) -> None:
    for one in left:
        steps.remove(one.machine, one.path)
