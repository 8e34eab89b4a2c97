"""Brings a cluster's machines to the newest bundle, image and Kubernetes: one at a time, each healthy before the next.

What is to be done is decided from what is, so an interrupted roll goes on where it stopped.
"""

import time
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from fleet.kubernetes_versions import refusal
from landbridge.errors import LandbridgeError, UsageError
from landbridge.etcd.ring import CLOSE
from landbridge.waiting import NotYet, until

from .machines import Machines, State
from .session import Session
from .waiting import Tell

SECONDS = {"real": 900.0, "local": 180.0}
PAUSE = {"real": 5.0, "local": 0.5}


class RollError(LandbridgeError):
    """The roll stopped; what was replaced by then stays."""


class Replaced(NamedTuple):
    machine: str
    because: str
    old: str
    new: str
    seconds: float

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


def order(states: Collection[State], chosen: Collection[str], *, force: bool) -> list[str]:
    """Which machines to replace, and in which order: what ails, etcd's followers, its leaders, API machines."""
    wanted = [state for state in states if (force or state.behind) and (not chosen or state.name in chosen)]

    def rank(state: State) -> tuple[object, ...]:
        return (not state.ails, state.role != "etcd", len(state.leads), "main" in state.leads, state.name)

    return [state.name for state in sorted(wanted, key=rank)]


def check(states: Collection[State], next_: str) -> None:
    """Raises RollError unless every machine but the next one is healthy."""
    ailing = {state.name: "; ".join(state.ails) for state in states if state.ails and state.name != next_}
    if ailing:
        lines = "\n".join(f"  {name}: {why}" for name, why in ailing.items())
        raise RollError(
            f"The roll stops before {next_}, which stays as it is: only one machine may be away at a time, and others "
            f"are not healthy:\n{lines}\nMake them healthy and run the command again: it goes on where it stopped."
        )


def check_versions(states: Collection[State], name: str, channel: Callable[[str], str]) -> None:
    """Raises RollError where successors could not start, or Kubernetes' rules forbid them beside what runs.

    `channel` gives what names the image with a version of Kubernetes, for people.
    """
    lacking = sorted({state.wanted_kubernetes for state in states if not state.wanted_image})
    if lacking:
        raise RollError(
            f"No machine can start: nobody has set {channel(lacking[0])}, which names the image with "
            f"Kubernetes {lacking[0]}. Promote an image, then run the command again."
        )
    # An API server's machine never goes back; etcd's own stores what it is told.
    refusals = {
        state.name: refusal(state.kubernetes or None, state.wanted_kubernetes, undone=state.role == "etcd")
        for state in states
    }
    if refused := [f"  {machine}: {why}" for machine, why in refusals.items() if why]:
        lines = "\n".join(refused)
        raise RollError(
            f"The roll does not begin: machines can't go to what the stack {name} last published:\n{lines}\n"
            f"Was its last `landbridge up {name}` not finished? Finish it with the version that runs in fleet.yaml, "
            "then run the command again."
        )


class Roll:
    """One run of `landbridge cluster roll`."""

    def __init__(self, session: Session, tell: Tell) -> None:
        self.session, self.tell, self.machines = session, tell, Machines(session)
        self.seconds, self.pause = SECONDS[session.place.world], PAUSE[session.place.world]
        self.done: list[Replaced] = []

    def run(self, chosen: Collection[str], *, force: bool) -> list[Replaced]:
        """Raises RollError at the first machine that is not healthy."""
        if unknown := set(chosen) - set(self.session.info.machines):
            known = ", ".join(self.session.info.machines)
            raise UsageError(
                f"{', '.join(sorted(unknown))}: no machine of {self.session.info.name}. They are: {known}."
            )
        states = self.settled()
        wanted = order(states.values(), chosen, force=force)
        if wanted:
            check_versions(states.values(), self.session.info.name, self.channel)
        for name in wanted:
            check(states.values(), name)
            why = ", ".join(f"new {what}" for what in states[name].behind) or "forced"
            self.tell(f"{name}: {why}")
            self.replace(states[name], why)
            states = self.machines.look()
        return self.done

    def settled(self) -> dict[str, State]:
        """The machines; those that are current and on their way get their time, as after an interrupted roll."""
        deadline = time.monotonic() + self.seconds
        while True:
            states = self.machines.look()
            coming = [state.name for state in states.values() if state.ails and not state.behind]
            if not coming or time.monotonic() > deadline:
                return states
            self.tell(f"waiting for {', '.join(coming)}, which is current and not healthy yet")
            time.sleep(max(self.pause, 2.0))

    def replace(self, state: State, why: str) -> None:
        """Ends the machine's instance; its successor takes interface and volumes."""
        begun = time.monotonic()
        for ring in state.leads:
            self.hand_over(state.name, ring)
        self.session.cloud.replace(self.session.info, state.name, state.instance)
        new = self.until_healthy(state)
        self.check_image(new)
        replaced = Replaced(state.name, why, state.instance, new.instance, round(time.monotonic() - begun, 1))
        self.done.append(replaced)
        self.tell(f"{state.name}: {new.instance} is healthy after {replaced.seconds:.0f} s")

    def check_image(self, new: State) -> None:
        """Raises RollError when an image holds another Kubernetes than its parameter says: at the first machine."""
        if new.wanted_kubernetes and (has := self.machines.installed(new.name)) != new.wanted_kubernetes:
            raise RollError(
                f"The roll stops after {new.name}, which is healthy: its image {new.image} was to have Kubernetes "
                f"{new.wanted_kubernetes}, and says: {has}. Put the right image into "
                f"{self.channel(new.wanted_kubernetes)}, then run the command again."
            )

    def channel(self, kubernetes: str) -> str:
        return self.session.cloud.channel(self.session.info.fleet, kubernetes)

    def hand_over(self, name: str, ring: str) -> None:
        """Another member leads before this one goes: writes then wait for no election."""
        ctl = self.machines.ctl
        view = ctl.look(ring)
        others = [m for m in view.members if m.name != name and m.answers and not m.learner]
        near = [m for m in others if (view.lag(m) or 0) <= CLOSE]
        if not near:
            raise RollError(f"etcd {ring} has nobody to lead it but {name}: the roll stops. Make its members healthy.")
        best = min(near, key=lambda member: (view.lag(member) or 0, member.name))
        ctl.call(name, ring, "move-leader", best.id)
        self.tell(f"etcd {ring}: {best.name} leads instead of {name}")

    def until_healthy(self, old: State) -> State:
        """The successor. Raises RollError with what it lacks when its time is over."""
        reported = ""

        def healthy() -> State:
            nonlocal reported
            state = self.machines.look()[old.name]
            replaced = state.instance not in ("", old.instance)
            lacks = list(state.ails) if replaced else ["its successor does not run yet"]
            if replaced and state.kubernetes != state.wanted_kubernetes:
                lacks.append(f"it has Kubernetes {state.kubernetes or 'unknown'}, not {state.wanted_kubernetes}")
            if replaced and state.bundle != state.wanted_bundle:
                lacks.append(f"it has bundle {state.bundle or 'unknown'}, not {state.wanted_bundle}")
            if not lacks:
                return state
            if lacks[0] != reported:
                reported = lacks[0]
                self.tell(f"{old.name}: {reported}")
            raise NotYet(f"{state.instance or '(none)'} is not healthy after {self.seconds:.0f} s: {'; '.join(lacks)}")

        def late(ails: str) -> RollError:
            return RollError(
                f"The roll stops at {old.name}, whose successor {ails}. All other machines are as they were. Its boot "
                "log says where it stopped (/var/log/landbridge-boot.log); with a bundle that boots, run the command "
                "again."
            )

        return until(healthy, self.seconds, self.pause, late)
