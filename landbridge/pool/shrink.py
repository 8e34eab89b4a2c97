"""A pool shrinks by its idle machines alone: each is cordoned, looked at again, ended, and its node removed.

Never by desired capacity, which leaves it to the cloud who goes: machines are protected from that.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from landbridge.cluster import freeze
from landbridge.cluster.session import Session
from landbridge.cluster.waiting import Tell
from landbridge.site import nodes

from . import groups as scaling
from . import usage
from .sizes import Group, Machine, leaving
from .termination import Termination

# Until the scheduler has seen the cordon: a pod that it had placed by then is seen in the second look.
SETTLE_SECONDS = {"real": 3.0, "local": 1.0}


@dataclass
class Shrink:
    """One run. `removed` are machines that were ended, `busy` those left because something runs there: what."""

    session: Session
    pool: str
    tell: Tell
    removed: list[str] = field(default_factory=list)
    busy: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.termination = Termination(self.session, self.pool, self.tell)
        self.kube = self.session.admin
        self.groups: list[Group] = []
        self.launched: dict[str, datetime] = {}

    def candidates(self, groups: Sequence[Group], number: int) -> list[Machine]:
        """Who would go now. Raises LandbridgeError, also while the cluster is frozen."""
        freeze.refuse(self.kube, f"No machine of {self.pool} goes")
        self.groups = list(groups)
        live = [machine.name for group in groups for machine in group.live]
        machines = scaling.about(self.session, self.termination.region, live)
        # One that EC2 does not know any more is gone already, and first of all.
        newest = datetime.max.replace(tzinfo=UTC)
        self.launched = {name: machines[name].launched if name in machines else newest for name in live}
        return self.next(number)

    def next(self, number: int) -> list[Machine]:
        work = usage.work(self.kube)
        self.busy = {name: work[name] for name in self.launched if name in work and name not in self.removed}
        return leaving(self.groups, self.launched, self.busy, number)

    def run(self, number: int) -> None:
        """Ends idle machines until `number` went or none is idle. Raises LandbridgeError."""
        tried = set[str]()
        while picked := [one for one in self.next(number - len(self.removed)) if one.name not in tried]:
            tried |= {machine.name for machine in picked}
            self.end_idle([machine.name for machine in picked])
        self.termination.put_away(self.removed)

    def end_idle(self, picked: Sequence[str]) -> None:
        """Ends those that are still idle once nothing more is scheduled there; the others work on."""
        there = usage.of_pool(self.kube, self.pool)
        cordoned = [name for name in picked if name in there and not nodes.cordoned(there[name])]
        try:
            for name in cordoned:
                nodes.patch(self.kube, name, {"spec": {"unschedulable": True}})
            time.sleep(SETTLE_SECONDS[self.session.place.world])
            work = usage.work(self.kube)
            for name in picked:
                if name in work:
                    self.tell(f"{name} got work meanwhile and stays: {', '.join(work[name])}")
                    continue
                self.end(name)
        finally:
            for name in cordoned:
                if name not in self.removed:
                    nodes.patch(self.kube, name, {"spec": {"unschedulable": None}})

    def end(self, name: str) -> None:
        self.termination.end(name, replace=False)
        self.removed.append(name)
        self.groups = [
            group._replace(machines=tuple(one for one in group.machines if one.name != name)) for group in self.groups
        ]
