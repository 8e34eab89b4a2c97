"""What drills work with: one cluster, the writer, and the faults that several of them make."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from landbridge.cluster.session import Session
from landbridge.errors import LandbridgeError
from landbridge.etcd import waiting
from landbridge.etcd.machine_steps import MachineSteps, side_by_side
from landbridge.etcd.ring import Ctl, Member, View
from landbridge.waiting import until

from .marker import Mark
from .writer import Writer

RECOVERY_SECONDS = 180.0
Tell = Callable[[str], None]


class DrillError(LandbridgeError):
    """Something did not come back, or not as it should."""


@dataclass
class Outcome:
    """What a drill found. `revision` is what a restore went back to, `goes_on` where it went on from there."""

    seconds: float
    facts: dict[str, Any] = field(default_factory=dict)
    revision: int | None = None
    goes_on: int = 0


def killing(ring: str) -> str:
    """The command that ends a ring's process at a blow, and no other's: not even that of this very command."""
    return f"pkill -KILL -f 'etcd/[{ring[0]}]{ring[1:]}.json'"


class Bench:
    """One drill's view of the cluster."""

    def __init__(self, session: Session, writer: Writer, mark: Mark, tell: Tell) -> None:
        self.session, self.info, self.writer, self.mark, self.tell = session, session.info, writer, mark, tell
        self.ctl, self.steps = Ctl(session.remote, session.info), MachineSteps(session.remote)

    @property
    def etcd(self) -> list[str]:
        return [machine.name for machine in self.info.etcd]

    def look(self, ring: str) -> View:
        return self.ctl.look(ring)

    def leader(self, ring: str) -> Member:
        """Raises DrillError."""
        leader = self.look(ring).leader
        if leader is None:
            raise DrillError(f"etcd {ring} has no leader")
        return leader

    def follower(self, ring: str) -> Member:
        return next(member for member in self.look(ring).members if not member.leader)

    def healthy(self, ring: str, seconds: float = RECOVERY_SECONDS) -> None:
        waiting.for_ring(self.session.remote, self.info, ring, seconds)

    def writes(self, count: int = 10, seconds: float = RECOVERY_SECONDS) -> None:
        self.writer.more(count, seconds)

    def kill(self, machine: str, ring: str) -> None:
        """Its process, as a crash would; its unit starts it again."""
        self.steps.sh(machine, f"killing etcd {ring}", killing(ring))

    def lose(self, machines: Sequence[str], ring: str) -> None:
        """The members and all that their disks hold, at once."""

        def wipe(machine: str) -> None:
            unit, path = f"etcd-{ring}.service", f"/var/lib/etcd/{ring}"
            kill = f"{killing(ring)} || true; systemctl stop {unit}"
            self.steps.sh(machine, "losing its disk", f"{kill}; mountpoint -q {path}; rm -rf {path}/*")

        side_by_side(wipe, machines)

    def instance(self, machine: str) -> str:
        found = self.session.cloud.machines(self.info).get(machine)
        return found.id if found else ""

    def terminate(self, machine: str) -> str:
        """Ends its instance behind everybody's back; gives the id."""
        old = self.instance(machine)
        self.session.cloud.end(self.info, [machine])
        return old

    def successor(self, machine: str, old: str) -> str:
        """Waits for another instance with a boot log; starts it where no cloud does. Raises DrillError."""
        self.session.cloud.revive(self.info, machine)

        def there() -> str:
            new = self.instance(machine)
            return new if new not in ("", old) and self.boot_log(machine) else ""

        return str(self.until(there, f"{machine} has no successor"))

    def boots(self) -> None:
        """Waits until every machine has written its bundle and told its units to start. Raises DrillError."""

        def booted(machine: str) -> None:
            done = "boot: done"
            self.until(lambda: self.boot_log(machine).rstrip().endswith(done), f"{machine} has not booted")

        side_by_side(booted, self.info.machines)

    def boot_log(self, machine: str) -> str:
        try:
            return self.steps.ask(machine, "cat", "/var/log/landbridge-boot.log", seconds=20).out
        except LandbridgeError:  # it is between two instances
            return ""

    def until(self, what: Callable[[], Any], why: str, seconds: float = RECOVERY_SECONDS) -> Any:
        """What it gives once that is true. Raises DrillError."""
        return until(what, seconds, 0.3, lambda _: DrillError(f"{why} after {seconds:.0f} s"))
