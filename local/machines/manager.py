"""Holds the units of a machine and carries out starts and stops in their order."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .graph import FOLDER, Graph, load
from .logs import Logs
from .loop import Loop
from .mounts import Automount, Mount
from .runner import GOOD, Outcome, Owner, Runner
from .service import Service
from .timers import Timer
from .units import Unit, UnitError

RUNNERS: dict[str, Callable[[Owner, Unit], Runner]] = {
    "service": Service,
    "mount": Mount,
    "automount": Automount,
    "timer": Timer,
    "target": Runner,
}
DOWN = ("inactive", "failed")


@dataclass
class Job:
    """A start or stop that waits for its turn or is under way."""

    name: str
    kind: str
    then_start: bool = False
    under_way: bool = False
    outcomes: list[Outcome] = field(default_factory=list)


class Manager:
    """The units and jobs of one machine."""

    def __init__(self, loop: Loop, logs: Logs, host: str, folder: Path = FOLDER) -> None:
        self.loop, self.logs, self.host, self.folder = loop, logs, host, folder
        self.born = time.monotonic()
        self.stopping = False
        self.runners: dict[str, Runner] = {}
        self.graph = Graph({})
        self.jobs: dict[str, Job] = {}
        self.paused = False
        loop.reaped.append(self.check)

    def reload(self) -> None:
        """Reads the unit files anew. Raises UnitError, and then all stays as it was."""
        units = load(self.folder, self.host)
        # A unit whose file is gone stays known for as long as it lives.
        alive = {name: r.unit for name, r in self.runners.items() if r.state not in DOWN or name in self.jobs}
        self.graph = Graph(alive | units)
        for name in set(self.runners) - set(self.graph.units):
            del self.runners[name]
        for name, unit in self.graph.units.items():
            self.runner(name).unit = unit

    def runner(self, name: str) -> Runner:
        if name not in self.runners:
            unit = self.graph.units.get(name) or Unit(name, {})
            self.runners[name] = RUNNERS[unit.kind](self, unit)
        return self.runners[name]

    def enqueue_start(self, names: list[str], outcome: Outcome) -> None:
        """Starts units with all they need; `outcome` is called once for each of `names`. Raises UnitError."""
        if self.stopping:
            for _ in names:
                outcome("canceled")
            return
        needed = sorted(self.graph.to_start(names))
        with self.gathering():
            for name in needed:
                job = self.jobs.get(name)
                if job and job.kind == "stop":
                    if job.under_way:
                        job.then_start = True
                    else:
                        self.finish(job, "canceled")
                        job = None
                if not job and (name in names or self.runner(name).state != "active"):
                    job = self.jobs[name] = Job(name, "start")
                if job and name in names:
                    job.outcomes.append(outcome)

    def enqueue_stop(self, names: Iterable[str], outcome: Outcome, *, then_start: bool = False) -> None:
        """Stops units and all that stop with them; with `then_start`, starts those again that ran."""
        named = set(names)
        with self.gathering():
            for name in sorted(self.graph.to_stop(named)):
                if self.runner(name).state in DOWN and name not in self.jobs and name not in named:
                    continue
                job = self.jobs.get(name)
                if job and job.kind == "start":
                    self.finish(job, "canceled")
                    job = None
                if not job:
                    job = self.jobs[name] = Job(name, "stop")
                job.then_start = then_start
                if name in named:
                    job.outcomes.append(outcome)

    def restart(self, names: list[str], outcome: Outcome) -> None:
        self.graph.to_start(names)
        self.enqueue_stop(names, outcome, then_start=True)

    @contextlib.contextmanager
    def gathering(self) -> Iterator[None]:
        """Nothing is set under way in here, so that jobs see all they have to wait for."""
        before, self.paused = self.paused, True
        try:
            yield
        finally:
            self.paused = before
        self.pump()

    def pump(self) -> None:
        """Sets every job under way whose turn has come."""
        if self.paused:
            return
        self.paused = True
        try:
            while job := next((j for j in self.jobs.values() if not j.under_way and not self.blocked(j)), None):
                job.under_way = True
                self.carry_out(job)
        finally:
            self.paused = False
        if self.stopping and not self.jobs:
            self.loop.end()

    def blocked(self, job: Job) -> bool:
        mine, after = job.name, self.graph.after
        if job.kind == "start" and self.runner(mine).state == "deactivating":
            return True
        for other in self.jobs.values():
            if other is job:
                continue
            if job.kind == "start" and other.kind == "start" and other.name in after[mine]:
                return True
            if job.kind == "start" and other.kind == "stop" and self.graph.ordered(mine, other.name):
                return True
            if job.kind == "stop" and other.kind == "stop" and mine in after[other.name]:
                return True
        return False

    def carry_out(self, job: Job) -> None:
        runner = self.runner(job.name)
        if job.kind == "stop":
            return runner.stop(lambda how: self.finish(job, how))
        for needed in sorted(self.graph.requires[job.name] & self.graph.after[job.name]):
            if self.runner(needed).state == "failed" or self.bound_is_down(job.name, needed):
                runner.say(f"not started: it needs {needed}, which is {self.runner(needed).state}")
                return self.finish(job, "dependency")
        return runner.start(lambda how: self.finish(job, how))

    def bound_is_down(self, name: str, needed: str) -> bool:
        return name in self.graph.bound[needed] and self.runner(needed).state != "active"

    def finish(self, job: Job, how: str) -> None:
        """Ends a job, and with it the starts that needed it."""
        if self.jobs.get(job.name) is not job:
            return
        del self.jobs[job.name]
        if job.kind == "stop" and job.then_start and not self.stopping and how == "done":
            self.start_again(job)
        else:
            for outcome in job.outcomes:
                outcome(how)
        if job.kind == "start" and how not in GOOD:
            for other in list(self.jobs.values()):
                if other.kind == "start" and not other.under_way and job.name in self.graph.requires[other.name]:
                    self.runner(other.name).say(f"not started: {job.name} {how}")
                    self.finish(other, "dependency")
        self.pump()

    def start_again(self, job: Job) -> None:
        again = Job(job.name, "start", outcomes=job.outcomes)
        self.jobs[job.name] = again
        try:
            needed = self.graph.to_start([job.name])
        except UnitError as error:
            self.runner(job.name).say(str(error))
            return self.finish(again, "failed")
        for name in sorted(needed):
            if name not in self.jobs and self.runner(name).state != "active":
                self.jobs[name] = Job(name, "start")
        return None

    def on_unit_exit(self, name: str) -> None:
        """A unit has ended by itself: what is bound to it ends too."""
        bound = [other for other in self.graph.bound[name] if self.runner(other).state not in DOWN]
        if bound:
            self.enqueue_stop(bound, lambda _how: None)
        self.pump()

    def check(self) -> None:
        for runner in list(self.runners.values()):
            runner.check()

    def shut_down(self) -> None:
        """Stops all units in reverse order, then ends the loop."""
        self.stopping = True
        with self.gathering():
            for job in [job for job in self.jobs.values() if job.kind == "start"]:
                self.finish(job, "canceled")
            alive = [name for name, runner in self.runners.items() if runner.state not in DOWN]
            self.enqueue_stop(alive, lambda _how: None)
