"""The drill that replaces every machine, as each new bundle, image and Kubernetes version does."""

import time

from ..cluster.machines import Machines
from ..cluster.roll import Roll
from ..etcd.ring import View
from .bench import Bench, DrillError, Outcome

# A leader that hands over leaves its ring without one for an instant: seen twice running it is no instant.
INSTANT = 2


class Watched(Machines):
    """The roll's own looks, which also count how long a ring was without a majority."""

    looks, without = 0, 0
    worst = 0

    def views(self) -> dict[str, View]:
        views = super().views()
        self.looks += 1
        self.without = 0 if all(view.quorum for view in views.values()) else self.without + 1
        self.worst = max(self.worst, self.without)
        return views


def rolled(bench: Bench) -> Outcome:
    """Every machine is replaced, one at a time; no ring loses its majority and no write fails."""
    before = {name: bench.instance(name) for name in bench.info.machines}
    roll = Roll(bench.session, bench.tell)
    roll.machines = watched = Watched(bench.session)
    begun = time.monotonic()
    done = roll.run((), force=True)
    bench.writes(1)
    seconds = time.monotonic() - begun
    same = [name for name, instance in before.items() if bench.instance(name) == instance]
    if same or len(done) != len(before):
        raise DrillError(f"{', '.join(same)} were not replaced; {len(done)} of {len(before)} were")
    if watched.worst >= INSTANT:
        raise DrillError(f"a ring had no majority in {watched.worst} looks running")
    each = {one.machine: one.seconds for one in done}
    return Outcome(seconds, {"replaced": each, "looks": watched.looks, "without_quorum": watched.worst})
