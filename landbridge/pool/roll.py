"""Brings a pool's machines to the image that its channel names and to its newest template, a part of them at a time.

What is to be done is decided from what is, so an interrupted roll goes on where it stopped.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from landbridge.cluster import freeze
from landbridge.cluster.session import Session
from landbridge.cluster.waiting import READY_SECONDS, Tell
from landbridge.cluster.waiting import look as how_to_look
from landbridge.errors import LandbridgeError

from . import cloud as clouds
from . import eviction, images, roll_plan, rolling_taint, usage
from . import groups as scaling
from . import machines as pool_machines
from .listing import named
from .machines import Look
from .roll_plan import State, Step
from .roll_timers import Waits
from .shrink import SETTLE_SECONDS
from .termination import Termination

# Each look lists all pods of the cluster: seldom where there is nothing to do but to wait for work to end.
PAUSE = {"real": 10.0, "local": 1.0}
IDLE_PAUSE = {"real": 60.0, "local": 1.0}
WORKERS = 8
# A node may have changed since it was read.
TRIES = 3
RUNBOOK = "docs/runbooks/pool-roll-stopped.md"
Ask = Callable[[str], None]


class RollError(LandbridgeError):
    """The roll stopped; what was replaced by then stays."""


@dataclass(frozen=True)
class How:
    """`fraction` of the machines may be away at a time, at least one. Work has `deadline` from the first roll on, and
    a successor `seconds` until it is at work; without `wait` the roll ends when there is only work to wait for.
    """

    fraction: float = 0.1
    deadline: timedelta = timedelta(hours=24)
    seconds: float | None = None
    wait: bool = True


@dataclass
class Outcome:
    """`image` is what the channel names. `replaced` are machines that went, with what of them was not the newest, and
    `came` those that are at work in their place; `waiting` are older ones that stay for now, with their work.
    """

    cluster: str
    pool: str
    parameter: str = ""
    image: str = ""
    name: str = ""
    machines: int = 0
    at_a_time: int = 0
    replaced: dict[str, list[str]] = field(default_factory=dict)
    came: list[str] = field(default_factory=list)
    waiting: dict[str, list[str]] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        return not self.waiting

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "done": self.done}


class Roll:
    """One run of `landbridge pool roll`. `ask` raises unless the user agrees."""

    def __init__(self, session: Session, pool: str, how: How, tell: Tell, ask: Ask) -> None:
        self.session, self.pool, self.how, self.tell, self.ask = session, pool, how, tell, ask
        self.kube, self.place = session.admin, session.place
        self.patience = READY_SECONDS[self.place.world] if how.seconds is None else how.seconds
        self.termination = Termination(session, pool, tell)
        self.outcome, self.reported = Outcome(session.info.name, pool), dict[str, str]()
        # Launches that had failed before, by group.
        self.failed: dict[str, str] = {}
        self.waits = Waits()

    def run(self) -> Outcome:
        """Raises RollError at the first successor that is not at work, and LandbridgeError."""
        freeze.refuse(self.kube, f"No machine of {self.pool} is replaced")
        first = self.begin()
        if older := [state for state in first.states.values() if state.behind]:
            notice = timedelta(minutes=self.session.world.fleet.maintenance.notice_minutes)
            self.ask(question(self.outcome, older, self.how, notice))
        try:
            while self.go():
                pass
        except KeyboardInterrupt:
            self.tell(f"Interrupted. {self.again()}")
            raise
        except LandbridgeError as error:
            self.lift(error)
            raise
        return self.outcome

    def begin(self) -> Look:
        """What there is to do, and nothing changed. Raises LandbridgeError."""
        self.wanted = images.wanted(self.session, self.pool)
        outcome, first = self.outcome, self.look()
        outcome.parameter, outcome.image, outcome.name = self.wanted.parameter, self.wanted.id, self.wanted.name
        self.known = set(first.states)
        self.before = {name for name, state in first.states.items() if not state.behind}
        return first

    def look(self) -> Look:
        found = pool_machines.look(self.session, self.pool, self.wanted)
        outcome, states = self.outcome, found.states
        outcome.machines = max(len(states), sum(group.desired for group in found.groups))
        outcome.at_a_time = roll_plan.most_away(outcome.machines, self.how.fraction)
        outcome.waiting = {name: [*one.work, *one.movable] for name, one in states.items() if one.behind}
        return found

    def go(self) -> bool:
        """One look and what follows from it; whether there is more to do."""
        now = self.look()
        self.check(now)
        if self.mark(now):
            # Until the scheduler has seen the taint: a pod that it had placed by then is seen in the next look.
            time.sleep(SETTLE_SECONDS[self.place.world])
            return True
        step = roll_plan.step(
            now.states.values(), roll_plan.owed(now.groups), self.outcome.at_a_time, datetime.now(UTC)
        )
        came = (name for name, one in now.states.items() if not one.behind and not one.lacks)
        self.outcome.came = sorted(set(came) - self.before)
        if step.over or (step.idle and not self.how.wait):
            return False
        if step.end or step.evict:
            freeze.refuse(self.kube, f"The roll of {self.pool} stops")
        self.end(now, step)
        drained = self.drain(now, step)
        self.show(now, step)
        if not (step.end or drained or step.coming or step.owed or self.how.wait):
            return False
        if not step.end:
            time.sleep((IDLE_PAUSE if step.idle else PAUSE)[self.place.world])
        return True

    def check(self, now: Look) -> None:
        """Raises RollError where no machine may be ended now."""
        moment, states = time.monotonic(), now.states.values()
        self.waits = self.waits.then(states, now.groups, moment)
        ages = self.waits.ages(moment)
        # Asked after the look: by then what a machine of it came of is known to have moved.
        moved = self.moved()
        whys = [
            *roll_plan.refused(now.groups, self.failed),
            *roll_plan.broken(states, ages, self.patience),
            *roll_plan.late(now.groups, ages, self.patience),
            *(moved or roll_plan.outdated(states, self.known)),
            *filter(None, [roll_plan.out_of_sight(states)]),
        ]
        if whys:
            raise RollError(f"The roll of {self.pool} stops: {'; '.join(whys)}. {self.left(now)}")

    def moved(self) -> list[str]:
        """Why what was wanted at the start is wanted no more, in words; none if it is."""
        region, first = self.termination.region, self.wanted
        cloud = clouds.at(self.session, region)
        id_ = cloud.values([first.parameter]).get(first.parameter, "")
        template, _ = cloud.template(self.pool)
        differences = (
            (id_ != first.id, f"{first.parameter} names {id_ or 'no image'} now, and named {first.id} when it began"),
            (
                template != first.template,
                f"the launch template's newest version is {template} now, and was {first.template} when it began",
            ),
        )
        return [why for differs, why in differences if differs]

    def mark(self, now: Look) -> bool:
        """Taints nodes that are to go, and takes the taint from those that stay; whether one got it."""
        at, why = datetime.now(UTC), f"{self.wanted.label}, template {self.wanted.template}"
        wanted = {
            name: rolling_taint.wanted(node, why, self.how.deadline, at)
            for name, node in now.nodes.items()
            if name in now.states and now.states[name].behind
        }
        put = [name for name, annotations in wanted.items() if not rolling_taint.stands(now.nodes[name], annotations)]
        # Not from nodes of machines on their way out.
        stays = now.nodes.keys() & now.states.keys() - wanted.keys()
        lift = [name for name in stays if rolling_taint.marked(now.nodes[name])]
        with ThreadPoolExecutor(WORKERS) as threads:
            list(threads.map(lambda name: rolling_taint.put(self.kube, now.nodes[name], wanted[name]), put))
            list(threads.map(lambda name: rolling_taint.lift(self.kube, now.nodes[name], forget=True), lift))
        if put:
            self.tell(f"{self.pool}: no new work comes to {named(put)}")
        return bool(put)

    def end(self, now: Look, step: Step) -> None:
        """Ends machines without work, and puts their nodes away; the scaling group launches as many."""
        self.failed |= {group.name: group.failed for group in now.groups}
        gone = []
        try:
            for name in step.end:
                state = now.states[name]
                self.tell(f"{name} is replaced: {' and '.join(f'older {what}' for what in state.behind)}")
                self.termination.end(name, replace=True)
                gone.append(name)
                self.outcome.replaced[name] = list(state.behind)
                self.outcome.waiting.pop(name, None)
        finally:
            self.termination.put_away(gone)

    def drain(self, now: Look, step: Step) -> bool:
        """As many machines as there is room for: one whose budgets let nothing go takes none. Whether any is."""
        room = step.room
        for name in step.evict:
            state = now.states[name]
            if room <= 0:
                break
            pods = [*state.movable, *(state.work if state.until and datetime.now(UTC) >= state.until else ())]
            to_evict = [pod for pod in pods if pod not in now.leaving]
            refused = {pod: why for pod in to_evict if (why := eviction.evict(self.kube, pod, now.uids[pod]))}
            if len(refused) < len(pods):
                room -= 1
                self.say(f"{name} is drained: {named(sorted(set(pods) - set(refused)))}")
            for pod, why in refused.items():
                self.say(f"{name} waits for {pod}: {why}")
        return room < step.room

    def show(self, now: Look, step: Step) -> None:
        """What is waited for, when it is not what was said before."""
        parts = []
        if step.owed and not step.end:
            parts.append(f"{step.owed} machines to be launched")
        parts += [f"{name} {why}" for name, why in sorted(step.coming.items())]
        parts += [f"{name} is {life}" for name in step.wait if (life := now.states[name].life) != roll_plan.SERVES]
        busy = [name for name in step.wait if now.states[name].work]
        if busy:
            untils = [until for name in busy if (until := now.states[name].until)]
            last = f", until {min(untils):%Y-%m-%d %H:%M} UTC at the earliest" if untils else ""
            parts.append(f"{named(busy)} {'works' if len(busy) == 1 else 'work'}{last}")
        if parts:
            self.say(f"{self.pool}: {'; '.join(parts)}; older ones left: {len(step.wait) + len(step.evict)}")

    def say(self, text: str) -> None:
        """Once, until it has changed and comes again."""
        about = text.partition(": ")[0]
        if self.reported.get(about) != text:
            self.tell(text)
            self.reported[about] = text

    def lift(self, error: LandbridgeError) -> None:
        """A roll that has stopped keeps no work off: what is old works on. When that began stays written."""
        error.document = self.outcome.as_json()
        with suppress(LandbridgeError):
            unmark(self.session, self.pool, forget=False)

    def left(self, now: Look) -> str:
        older = sum(1 for state in now.states.values() if state.behind)
        return (
            f"Replaced: {len(self.outcome.replaced)}; older ones left, which take work again: {older}. "
            f"Boot logs: {how_to_look(self.place)}. What to do: {RUNBOOK}. "
            f"{self.again()}"
        )

    def again(self) -> str:
        again = f"landbridge pool roll {self.pool}{self.place.options}"
        return f"`{again}` goes on where it stopped, with `--stop` it is given up."


def unmark(session: Session, pool: str, *, forget: bool) -> list[str]:
    """Takes a roll's taint from a pool's nodes, and with `forget` all that it wrote; whose they were.

    Nodes of machines that are on their way out keep it. Raises LandbridgeError.
    """
    live = {machine.name for group in scaling.of_pool(session, pool) for machine in group.live}
    found, has = set[str](), rolling_taint.marked if forget else rolling_taint.tainted
    for _ in range(TRIES):
        left = [node for name, node in usage.of_pool(session.admin, pool).items() if name in live and has(node)]
        found |= {node["metadata"]["name"] for node in left if rolling_taint.lift(session.admin, node, forget=forget)}
    return sorted(found)


def question(outcome: Outcome, older: Sequence[State], how: How, notice: timedelta) -> str:
    """What the user is asked before machines go; `notice` is what people may count on."""
    busy = sum(1 for state in older if state.work)
    hours = how.deadline.total_seconds() / 3600
    waits = f" {busy} of them have work, which has {hours:.4g} h to end and is then evicted." if busy else ""
    if busy and how.deadline < notice:
        waits += f" That is less than the notice of {notice.total_seconds() / 60:.4g} min of the fleet file."
    return (
        f"{len(older)} of {outcome.machines} machines of {outcome.pool} are replaced, by {outcome.name}, "
        f"at most {outcome.at_a_time} at a time.{waits} Go on?"
    )


def plan(look: Look, most: int) -> Mapping[str, str]:
    """By older machine, what a roll would do with it now. Changes nothing."""
    step = roll_plan.step(look.states.values(), roll_plan.owed(look.groups), most, datetime.now(UTC))
    first = set(step.end) | set(step.evict[: step.room])
    actions = {}
    for name, state in look.states.items():
        if not state.behind:
            continue
        if state.work and name not in first:
            actions[name] = f"waits for {named(state.work)}"
        elif state.movable:
            actions[name] = f"drained of {named(state.movable)}, then replaced"
        else:
            actions[name] = "replaced at once" if name in first else "replaced in its turn"
    return actions
