"""One region: what is known of its scaling groups, and the calls that change them.

Memory answers at once; the cloud is asked beside it. Calls that change a group come one after another, and none holds
the memory's lock while it waits for the cloud.
"""

import contextlib
import math
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from . import group as groups
from . import metrics
from .cloud import AT_ONCE, CHANGE_SECONDS, CHECK_SECONDS, AnswerLostError, Cloud, CloudError
from .decisions import record
from .group import Group, Observation
from .settings import Group as GroupSettings

# Two looks a minute at a region that rests.
REST_SECONDS = 30.0


class Caller(NamedTuple):
    """Who waits for a change: until a moment of the monotonic clock, and while it is there at all."""

    until: float = math.inf
    alive: Callable[[], bool] = lambda: True


ANYBODY = Caller()


class Region:
    """`memory` guards the groups of all regions: limits are counted over them. `answered`: whether it ever has.
    `stop` says why nothing may be ended here now, with a code in front; empty if it may.
    """

    def __init__(
        self,
        name: str,
        settings: Iterable[GroupSettings],
        cloud: Cloud,
        memory: threading.Lock,
        stop: Callable[[], str] = str,
    ) -> None:
        self.name, self.cloud, self.memory, self.stop = name, cloud, memory, stop
        self.settings = {one.name: one for one in settings}
        self.groups: dict[str, Group] = {}
        # Instance → group: asked for each node of the cluster in each pass.
        self.place: dict[str, str] = {}
        self.changing, self.looking = threading.Lock(), threading.Lock()
        self.answered = False
        self.leads_since = time.time()
        self.ended: set[str] = set()
        # Group → the code of what keeps its spoilt instances: told once.
        self.blocked: dict[str, str] = {}

    @property
    def busy(self) -> bool:
        """Whether something comes, goes, or was refused and is not taken note of."""
        with self.memory:
            return any(
                one.owed or one.refused or one.unsent or any(machine.state != "running" for machine in one.machines)
                for one in self.groups.values()
            )

    def take_over(self) -> None:
        """Another replica has led until now, or nobody."""
        with self.memory:
            self.leads_since = time.time()
            self.groups = {name: groups.taken_over(one, self.leads_since) for name, one in self.groups.items()}

    def look(self, *, leads: bool = True) -> None:
        """Asks the cloud; and, if it leads, tells it what no group is to try any longer. Raises CloudError.

        One look at a time: two would each make placeholders of one refusal.
        """
        with self.looking:
            try:
                self._look(leads=leads)
            finally:
                self._count()

    def _look(self, *, leads: bool) -> None:
        observed, waiting = self.cloud.groups()
        metrics.region_seen_seconds.labels(self.name).set(time.time())
        mine = self.settings.keys() & observed.keys()
        with self.memory:
            self.answered = True
            self.groups = {name: groups.observed(self._known(name), observed[name]) for name in mine}
            self.place = {machine.id: one.name for one in self.groups.values() for machine in one.machines}
            self.ended &= self.place.keys()
            short = [name for name, one in self.groups.items() if one.owed]
        # What one group can't be asked or told does not keep the others from it.
        problems: list[CloudError] = []
        todo: list[tuple[Callable[..., None], tuple[object, ...]]] = [
            (self._judge, (observed[name], name)) for name in short
        ]
        if leads:
            # After they were judged: with them goes what the cloud says of them.
            spoilt = {name for name in mine if observed[name].spoilt}
            self.blocked = {name: code for name, code in self.blocked.items() if name in spoilt}
            stop = self.stop() if spoilt else ""
            todo += [
                (self._record_blocked if stop else self._clear, (observed[name], name, stop)) for name in sorted(spoilt)
            ]
            # A size below what stands there would end something.
            todo += [(self._withdraw, (observed[name], name)) for name in sorted(mine - spoilt if stop else mine)]
            todo += [(self._let_go, (id_, waiting[id_])) for id_ in sorted(waiting.keys() & self.ended)]
        for do, about in todo:
            try:
                do(*about)
            except CloudError as error:
                problems.append(error)
        if problems:
            raise CloudError("; ".join(sorted({str(problem) for problem in problems})))

    def _known(self, name: str) -> Group:
        return self.groups.get(name) or Group(name, self.settings[name].least, requested_at=self.leads_since)

    def _judge(self, observed: Observation, name: str) -> None:
        """What a group owes may have been refused."""
        answer = observed._replace(failures=self.cloud.failures(name))
        with self.memory:
            before = self.groups[name]
            one = self.groups[name] = groups.observed(before, answer)
        if count := one.serial - before.serial:
            last = one.refused[-1]
            record("refused", group=name, region=self.name, machines=count, code=last.kind.code, why=last.sentence)

    def _withdraw(self, observed: Observation, name: str) -> None:
        """The cloud goes on trying for what it has refused, and would buy what another region has bought by then."""
        with self.changing:
            with self.memory:
                one = self.groups[name]
                if not one.unsent or observed.at <= one.settled or observed.desired <= one.desired:
                    return
                one = self.groups[name] = groups.in_flight(one)
            self._resize(one)

    def _record_blocked(self, observed: Observation, name: str, why: str) -> None:
        code = why.partition(":")[0]
        if self.blocked.get(name) != code:
            self.blocked[name] = code
            record("no-end", group=name, region=self.name, ids=list(observed.spoilt), why=why)

    def _clear(self, observed: Observation, name: str, _: str) -> None:
        """What is no machine holds a place, and is paid for. Whoever errs about that ends a machine: so the freeze and
        the region's breaker stop this, too.
        """
        self.blocked.pop(name, None)
        with self.changing:
            problems = self.cloud.end(name, observed.spoilt)
        if gone := [id_ for id_ in observed.spoilt if id_ not in problems]:
            record("cleared", group=name, region=self.name, ids=gone)
        if problems:
            raise next(iter(problems.values()))

    def _let_go(self, instance: str, group: str) -> None:
        self.cloud.let_go(instance, group)
        self.ended.discard(instance)

    def _resize(self, one: Group, **failed: object) -> None:
        """Tells the cloud what a group wants. Raises CloudError, and `failed` changes: it may have heard or not."""
        changed: dict[str, Any] = failed
        try:
            self.cloud.resize(one.name, one.desired)
            changed = {"unsent": False}
        finally:
            self._settle(one.name, **changed)

    def _settle(self, name: str, **changed: Any) -> None:
        with self.memory:
            if name in self.groups:
                self.groups[name] = groups.settled(self.groups[name], time.monotonic(), **changed)

    @contextlib.contextmanager
    def _exclusive(self, caller: Caller) -> Iterator[None]:
        """To change something. Raises CloudError where the caller would have given up before that is done."""
        patience = caller.until - CHANGE_SECONDS - time.monotonic()
        got = patience > 0 and self.changing.acquire(timeout=min(patience, threading.TIMEOUT_MAX))
        try:
            if not got or not caller.alive():
                raise CloudError(f"{self.name}: other changes take too long; nothing was asked for")
            yield
        finally:
            if got:
                self.changing.release()

    def grow(self, name: str, change: Callable[[Group], Group], caller: Caller) -> None:
        """Raises CloudError, and then nothing is wanted that was not before; and what `change` raises."""
        with self._exclusive(caller):
            with self.memory:
                before = self.groups[name]
                after = self.groups[name] = change(before)
            try:
                # The cloud may have heard a call that failed here. What it wants too much the next look takes back.
                self._resize(after, desired=before.desired, requested_at=before.requested_at, unsent=True)
            except AnswerLostError:
                # It has launched by then what it heard; and the autoscaler would ask another region for as many.
                if not self._heard(after, caller):
                    raise
                self._settle(name, desired=after.desired, requested_at=after.requested_at, unsent=False)

    def _heard(self, one: Group, caller: Caller) -> bool:
        """Whether the cloud wants as many as it was told, if that can be found out while the caller waits."""
        if caller.until - time.monotonic() < CHECK_SECONDS:
            return False
        with contextlib.suppress(CloudError):
            return self.cloud.size(one.name) == one.desired and caller.alive()
        return False

    def shrink(self, name: str, by: int, caller: Caller) -> int:
        """Wants at most so many fewer that have not come; how many. What the cloud can't be told now the next look
        tells it: the autoscaler stops altogether where this fails.
        """
        fewer = 0
        with contextlib.suppress(CloudError), self._exclusive(caller):
            with self.memory:
                before = self.groups[name]
                after = self.groups[name] = groups.without_owed(before, by)
            if fewer := before.desired - after.desired:
                self._resize(after)
        return fewer

    def end(self, name: str, ids: Collection[str], caller: Caller) -> Mapping[str, CloudError]:
        """Ends machines; those that did not go, with what was the matter. Raises CloudError, and what `ended` raises,
        if none was tried.
        """
        assert len(ids) <= AT_ONCE
        with self._exclusive(caller):
            with self.memory:
                before = self.groups[name]
                self.groups[name] = groups.ended(before, ids)
            problems = self.cloud.end(name, ids)
            with self.memory:
                self.ended |= {*ids} - problems.keys()
                self.groups[name] = groups.staying(self.groups[name], before, problems)
            self._settle(name)
        return problems

    def _count(self) -> None:
        with self.memory:
            known = list(self.groups.values())
        for one in known:
            counts = {"live": len(one.live), "owed": one.owed, "refused": len(one.refused)}
            for state, count in counts.items():
                metrics.machines.labels(one.name, state).set(count)
