"""A ring's return to a snapshot: every member begins anew from the same one, under a token of its own.

API servers stop first, for what they remember would be of another past; revisions are raised, so that no watch of
theirs or of a controller takes the new past for the old one (etcd's "Disaster recovery"; Kubernetes' "Operating etcd
clusters").
"""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from components.control_plane.units import UNITS
from landbridge.cluster.info import ClusterInfo
from landbridge.errors import LandbridgeError, UsageError
from landbridge.remote_execution import RemoteExecution, RemoteExecutionError
from landbridge.waiting import until

from . import salvage as salvaging
from . import store as stores
from . import waiting
from .machine_steps import MachineSteps, side_by_side
from .replace import mounted
from .ring import RING, Ctl
from .salvage import Left
from .store import Store

# As much as a cluster writes in a year at 30 a second; a revision has room for nine billion such steps.
BUMP = 1_000_000_000
API_UNITS = ("kube-apiserver.service", "kube-controller-manager.service", "kube-scheduler.service")
RESTORE_SECONDS, BOOT_SECONDS = 900.0, 120.0
Tell = Callable[[str], None]


class Source(NamedTuple):
    """What is gone back to: its key in the bucket, when it was taken, and its name for people."""

    key: str
    at: datetime
    label: str


class Restored(NamedTuple):
    """What became of it. `dropped` are entries of a survivor's that nobody knew to be agreed on."""

    ring: str
    source: str
    revision: int
    continues_at: int
    taken_at: datetime
    age_seconds: int
    dropped: int
    kept: str

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


def from_bucket(store: Store, info: ClusterInfo, ring: str, given: str) -> Source:
    """`given` is "newest", a key of the bucket, or a file here, which is put into the bucket first."""
    if given == "newest":
        found = stores.newest(store, info.name, ring)
        return Source(found.key, stores.taken(found), f"the newest snapshot, {found.key}")
    folder = stores.folder(info.name, ring)
    # Copies of another region's snapshots lie elsewhere in the bucket, and are named by their whole key.
    listed = {one.key: one for place in (folder, given) for one in store.listed(place)}
    for name in (given, f"{folder}{given}"):
        if name in listed:
            return Source(name, stores.taken(listed[name]), f"the snapshot {name}")
    file = Path(given)
    if not file.is_file():
        raise UsageError(
            f"{given} is neither a snapshot of {info.name}'s etcd {ring} in the bucket (`landbridge etcd snapshots`) "
            "nor a file here."
        )
    at = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    key = f"{folder}uploaded/{at:%Y%m%dT%H%M%SZ}-{file.name}"
    store.put(key, file.read_bytes())
    return Source(key, at, f"the file {given}")


class Restore:
    """One restore, as steps in their order. A step that fails leaves all before it as it is: run it again."""

    def __init__(self, remote: RemoteExecution, info: ClusterInfo, store: Store, ring: str, tell: Tell) -> None:
        self.steps, self.info, self.store, self.ring, self.tell = MachineSteps(remote), info, store, ring, tell
        self.etcd = [machine.name for machine in info.etcd]
        self.api = [machine.name for machine in info.api]
        self.stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        self.folder = f"/var/lib/etcd/{ring}"
        self.file = f"{self.folder}/restore.db"
        self.bump = BUMP

    def reachable(self) -> None:
        """Raises LandbridgeError unless every machine answers: a member left out would go on with the old past."""
        silent: list[str] = []

        def ask(machine: str) -> None:
            unit = f"{UNITS}/{API_UNITS[0] if machine in self.api else f'etcd-{self.ring}.service'}"
            late = RemoteExecutionError(f"{machine} has not booted: see /var/log/landbridge-boot.log there.")
            try:
                # One that has just been started may have its bundle in a moment.
                until(
                    lambda: self.steps.ask(machine, "test", "-e", unit, seconds=20).code == 0,
                    BOOT_SECONDS,
                    1,
                    lambda _: late,
                )
            except RemoteExecutionError as error:
                silent.append(str(error))

        side_by_side(ask, [*self.etcd, *self.api])
        if silent:
            raise LandbridgeError(
                "Nothing was changed: a restore needs every machine of the control plane, for one that is left out "
                f"would go on with another past. {' '.join(sorted(silent))} Terminate its instance if it is beyond "
                "help: its scaling group starts a new one."
            )

    def stop(self) -> None:
        """API servers first, then the ring's members."""
        side_by_side(self.stop_api, self.api)
        self.tell(f"stopped: API servers of {', '.join(self.api)}" if self.api else "there are no API machines")
        side_by_side(lambda machine: self.steps.stop(machine, f"etcd-{self.ring}.service"), self.etcd)
        self.tell(f"stopped: etcd {self.ring} of {', '.join(self.etcd)}")

    def stop_api(self, machine: str) -> None:
        # They would wait for their balancer, which is no use to anybody whose data are about to change.
        self.steps.do(machine, "stopping the API server", "systemctl", "stop", "--no-block", *API_UNITS)
        self.steps.ask(machine, "pkill", "-KILL", "-x", "kube-apiserver")
        self.steps.stop(machine, *API_UNITS)

    def disk(self, machine: str) -> None:
        self.steps.start(machine, f"var-lib-etcd-{self.ring}.mount")
        mounted(self.steps, machine, self.ring)

    def salvage(self, machine: str) -> tuple[Source, Left]:
        """The newest of what is left on disks (or of one machine's), in the bucket. Members must be stopped."""
        names = self.etcd if machine == "newest" else [machine]
        found = side_by_side(lambda name: salvaging.salvage(self.steps, name, self.ring), names)
        left = [one for one in found.values() if one]
        for one in left:
            self.tell(f"{one.machine} has revision {one.revision}")
        best = salvaging.newest(left)
        at = datetime.now(UTC)
        key = stores.key(self.info.name, self.ring, best.revision, at, kind="salvaged/")
        self.steps.send(best.machine, best.path, self.info.region, self.info.bucket, key)
        salvaging.forget(self.steps, left)
        return Source(key, at, f"what was left on {best.machine}"), best

    def bring(self, source: Source) -> int:
        """The snapshot's file to every member's disk, read and compared. Gives the snapshot's revision."""
        url = self.store.get_url(source.key)
        side_by_side(lambda machine: self.steps.fetch(machine, self.file, url), self.etcd)
        status = side_by_side(lambda machine: self.steps.snapshot_status(machine, self.file), self.etcd)
        hashes = {(one["hash"], one["revision"]) for one in status.values()}
        if len(hashes) != 1:
            raise LandbridgeError(f"The machines did not get the same snapshot: {status}. Run the command again.")
        return int(next(iter(status.values()))["revision"])

    def highest(self) -> int:
        """The highest revision that anybody can have seen of this ring: also of a past that was left before."""
        listed = [stores.revision(one.key) for one in stores.scheduled(self.store, self.info.name, self.ring)]
        alive = [member.revision for member in Ctl(self.steps.remote, self.info).look(self.ring).members]
        return max((one or 0 for one in (*listed, *alive)), default=0)

    def lay(self, machine: str) -> None:
        """The snapshot's data in a member's folder; the old ones are kept beside."""
        one, peers = self.info.machines[machine], RING[self.ring].peer_port
        flags = {
            "name": machine,
            "initial-cluster": ",".join(f"{m.name}=https://{m.host}:{peers}" for m in self.info.etcd),
            "initial-cluster-token": f"{self.info.prefix.replace('/', '-')}-{self.ring}-{self.stamp}",
            "initial-advertise-peer-urls": f"https://{one.host}:{peers}",
            "data-dir": f"{self.folder}/data.restored",
            "bump-revision": str(self.bump),
        }
        words = [f"--{name}={value}" for name, value in flags.items()]
        self.steps.remove(machine, f"{self.folder}/data.restored")
        command = ("/usr/local/bin/etcdutl", "snapshot", "restore", self.file, *words, "--mark-compacted")
        self.steps.do(machine, "restoring the snapshot", *command, seconds=RESTORE_SECONDS)
        # In one go: a machine that dies in between has either the old data or the new.
        self.steps.sh(
            machine,
            "changing the data",
            f"cd {self.folder}; rm -f restore.db; "
            f"if [ -e data ]; then mv data {self.previous_data}; fi; mv data.restored data",
        )

    @property
    def previous_data(self) -> str:
        return f"data.before-{self.stamp}"

    def start(self) -> None:
        """The members, then the API servers, each healthy before it counts."""
        side_by_side(lambda machine: self.steps.start(machine, f"etcd-{self.ring}.service"), self.etcd)
        waiting.for_ring(self.steps.remote, self.info, self.ring)
        self.tell(f"etcd {self.ring} is healthy on {', '.join(self.etcd)}")
        self.start_api()

    def start_api(self) -> None:
        side_by_side(lambda machine: self.steps.start(machine, *API_UNITS), self.api)
        side_by_side(lambda machine: waiting.for_api(self.steps, machine), self.api)
        if self.api:
            self.tell(f"the API answers on {', '.join(self.api)}")

    def run(self, source: Source | None, salvaged: str | None) -> Restored:
        """All of it: from a source, or from what is left on a machine's disk."""
        self.reachable()
        side_by_side(self.disk, self.etcd)
        highest = self.highest()
        left: Left | None = None
        if source is not None:
            # A snapshot that can't be had or read must be known before anything stops.
            revision = self.bring(source)
            self.stop()
        else:
            self.stop()
            source, left = self.salvage(salvaged or "newest")
            revision = self.bring(source)
        # From above all of them, or a second return to the same snapshot would pass for the first one.
        self.bump = BUMP + max(0, highest - revision)
        side_by_side(self.lay, self.etcd)
        self.start()
        return Restored(
            ring=self.ring,
            source=source.label,
            revision=revision,
            continues_at=revision + self.bump,
            taken_at=source.at,
            age_seconds=int((datetime.now(UTC) - source.at).total_seconds()),
            dropped=left.dropped if left else 0,
            kept=f"{self.folder}/{self.previous_data}",
        )
