"""The drill that replaces every machine, as each new bundle, image and Kubernetes version does."""

import collections
import http.client
import socket
import threading
import time

from components.control_plane.machines import API_PORT, READY_PATH
from landbridge.cluster.machines import Machines, State
from landbridge.cluster.roll import Roll
from landbridge.cluster.session import Session
from landbridge.cluster.waiting import Tell
from landbridge.etcd.ring import RING
from landbridge.remote_execution import RemoteExecutionError

from .bench import Bench, DrillError, Outcome
from .writer import Api

# What is so for an instant is seen once or, by a busy computer, twice: a leader that hands over, a machine that goes as
# another one has come, a member that answers late. Only what so many looks running see lasts.
SAMPLES = 3
LOOK_SECONDS, API_SECONDS = 1.0, 5.0


class Watch:
    """Looks for itself at what the roll does: which machines are away, and whether each ring has its majority."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.machines = bench, Machines(bench.session)
        self.ended, self.thread = threading.Event(), threading.Thread(target=self.work, daemon=True)
        self.samples, self.most = 0, 0
        self.wrong: list[str] = []

    def __enter__(self) -> "Watch":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()

    def work(self) -> None:
        last: collections.deque[set[str]] = collections.deque(maxlen=SAMPLES)
        while not self.ended.wait(LOOK_SECONDS):
            last.append(self.away())
            self.samples += 1
            lasting = set.intersection(*last) if len(last) == SAMPLES else set()
            self.most = max(self.most, len([name for name in lasting if name in self.bench.info.machines]))
            if len(lasting) > 1:
                self.wrong.append(f"away at once: {', '.join(sorted(lasting))}")

    def away(self) -> set[str]:
        """Machines of which a member or the API server does not answer, and rings without a majority."""
        try:
            views = self.machines.views()
        except RemoteExecutionError:  # the one that was asked went meanwhile
            views = {}
        found = {f"the majority of etcd {ring}" for ring, view in views.items() if not view.quorum}
        for view in views.values():
            members = {member.name for member in view.members if member.answers}
            found |= {name for name in self.bench.etcd if name not in members}
        return found | {one.name for one in self.bench.info.api if not self.serves(one.address)}

    def serves(self, address: str) -> bool:
        api = Api(self.bench.info, self.bench.writer.credential, address)
        try:
            socket.create_connection((address, API_PORT), API_SECONDS).close()
        except OSError:
            return False
        try:
            return api.call("GET", READY_PATH, seconds=API_SECONDS)[0] == 200
        except TimeoutError:  # it is there, and slow: a busy computer is no mistake of the roll's
            return True
        except (OSError, http.client.HTTPException):
            return False
        finally:
            api.close()


class Looking(Roll):
    """The roll, with a look of the drill's own before each machine goes: how quickly one comes up must not matter."""

    def __init__(self, session: Session, tell: Tell) -> None:
        super().__init__(session, tell)
        self.wrong: list[str] = []

    def replace(self, state: State, why: str) -> None:
        others = [other for other in self.machines.look().values() if other.name != state.name]
        if ails := [f"{other.name}: {'; '.join(other.ails)}" for other in others if other.ails]:
            self.wrong.append(f"{state.name} goes while others are not healthy, {', '.join(ails)}")
        super().replace(state, why)


def rolled(bench: Bench) -> Outcome:
    """Every machine is replaced, one at a time; no ring loses its majority and no write fails."""
    before = {name: bench.instance(name) for name in bench.info.machines}
    begun = time.monotonic()
    roll = Looking(bench.session, bench.tell)
    with Watch(bench) as watch:
        done = roll.run((), force=True)
        for ring in RING:
            bench.healthy(ring)
        bench.writes(1)
    seconds = time.monotonic() - begun
    if roll.wrong:
        raise DrillError(f"the roll does not wait: {roll.wrong[0]}")
    if watch.wrong:
        raise DrillError(f"the roll may take one machine at a time: {watch.wrong[0]} ({len(watch.wrong)} looks)")
    same = [name for name, instance in before.items() if bench.instance(name) == instance]
    if same or len(done) != len(before):
        raise DrillError(f"{', '.join(same)} were not replaced; {len(done)} of {len(before)} were")
    each = {one.machine: one.seconds for one in done}
    return Outcome(seconds, {"replaced": each, "looks": watch.samples, "away_at_once": watch.most})
