"""Brings a site's hosts to the bundle that they are to have: idle ones only, one at a time, each Ready before the next.

What is to be done is decided from what is, so an interrupted run goes on where it stopped.
"""

import json
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from components.pools import labels
from components.pools.spec import pool_spec
from landbridge.cluster.kube import KubeError
from landbridge.cluster.waiting import Tell
from landbridge.errors import LandbridgeError
from landbridge.remote_execution import RemoteExecutionError
from landbridge.waiting import NotYet, until

from . import nodes
from .hosts import SiteHost
from .status import HostError, Hosts, State

What = Literal["current", "skip", "change", "finish", "changed", "finished"]
HAND_SECONDS = 180.0


class ApplyError(LandbridgeError):
    """It stopped; hosts that were changed by then stay so."""


class Outcome(NamedTuple):
    """`why` is of a host that is left alone, or what was different on it."""

    host: str
    what: What
    why: str = ""
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


@dataclass(frozen=True)
class Patience:
    """How long a host may take until it is Ready with a new bundle, and with the one before; and between looks."""

    seconds: float
    back_seconds: float
    pause: float


PATIENCE = {"real": Patience(600.0, 600.0, 3.0), "local": Patience(120.0, 120.0, 0.5)}


def decide(state: State) -> Outcome:
    """What has to be done with one host, and why not. Pure."""
    if state.unknown:
        return Outcome(state.host, "skip", state.unknown)
    if not state.enrolled:
        return Outcome(state.host, "skip", "it is not enrolled")
    if state.current:
        # An interrupted run has changed it, and released it not.
        return Outcome(state.host, "finish") if state.applying and state.ready else Outcome(state.host, "current")
    if state.runs:
        more = f" and {len(state.runs) - 3} more" if len(state.runs) > 3 else ""
        return Outcome(state.host, "skip", f"it is at work: {', '.join(state.runs[:3])}{more}")
    return Outcome(state.host, "change", files_text(state.differs))


def files_text(files: Sequence[str]) -> str:
    """In words: how many differ, and the first of them."""
    more = f" and {len(files) - 3} more" if len(files) > 3 else ""
    return f"{'1 file differs' if len(files) == 1 else f'{len(files)} files differ'}: {', '.join(files[:3])}{more}"


class Apply:
    """One run of `landbridge site apply`."""

    def __init__(self, hosts: Hosts, tell: Tell, patience: Patience | None = None) -> None:
        self.hosts, self.tell, self.kube = hosts, tell, hosts.session.admin
        self.patience = patience or PATIENCE[hosts.session.place.world]
        self.done: list[Outcome] = []

    def plan(self) -> list[Outcome]:
        return [decide(state) for state in self.hosts.look().values()]

    def run(self) -> list[Outcome]:
        """Raises ApplyError at the first host that does not take its bundle; it has its old one then."""
        for state in self.hosts.look().values():
            outcome = decide(state)
            if outcome.what == "skip":
                self.tell(f"{state.host}: left as it is: {outcome.why}")
            elif outcome.what == "change":
                outcome = self.change(state, outcome.why)
            elif outcome.what == "finish":
                self.release(self.hosts.hosts[state.host], leave_cordoned=False)
                outcome = outcome._replace(what="finished")
            self.done.append(outcome)
        return self.done

    def change(self, state: State, why: str) -> Outcome:
        host, begun = self.hosts.hosts[state.host], time.monotonic()
        wanted = self.hosts.published[host.name]
        ours = state.cordoned and not state.applying
        if host.joins:
            nodes.hold(self.kube, host.node)
            # Work may have come in the moment before.
            if runs := nodes.busy(self.kube, host.node):
                nodes.release(self.kube, host.node, leave_cordoned=ours)
                self.tell(f"{state.host}: left as it is: it is at work since a moment: {runs[0]}")
                return Outcome(state.host, "skip", f"it is at work: {', '.join(runs[:3])}")
        self.tell(f"{state.host}: {why}")
        up = self.serving(host)
        try:
            self.take(host, "apply", wanted.handed, self.patience.seconds, up)
        except (HostError, RemoteExecutionError, KubeError) as error:
            self.back(host, wanted.version, str(error), up, leave_cordoned=ours)
        if host.joins:
            self.release(host, leave_cordoned=ours)
        seconds = round(time.monotonic() - begun, 1)
        self.tell(f"{state.host}: has the current bundle and is Ready after {seconds:.0f} s")
        if lacks := sorted(self.reported(host, "serves", up=False) - up):
            self.tell(f"{state.host}: {', '.join(lacks)} not up, as before. `landbridge site status` says when")
        return Outcome(state.host, "changed", why, seconds)

    def release(self, host: SiteHost, *, leave_cordoned: bool) -> None:
        """With the labels of its pool as they are now: a kubelet sets them when its node is made, and no more."""
        wanted = labels.labels(pool_spec(self.hosts.session.world.fleet, self.hosts.session.world.plan, host.pool))
        nodes.release(self.kube, host.node, leave_cordoned=leave_cordoned, labels=wanted)

    def serving(self, host: SiteHost) -> set[str]:
        """Units that are up of what the host does besides being of its pool, such as serving NFS.

        Those that are not up before a change lack something that no bundle brings, a disk for one: they need not be up
        after it, and no bundle is taken back for them.
        """
        return self.reported(host, "serves", up=True)

    def reported(self, host: SiteHost, which: str, *, up: bool) -> set[str]:
        report = self.hosts.ask(host, "report")
        return {unit for unit in report.get(which, ()) if (report["units"].get(unit) == "active") == up}

    def take(self, host: SiteHost, verb: str, stdin: bytes, seconds: float, up: Collection[str]) -> None:
        """Has the host exchange its bundle; returns when it is Ready. Raises HostError, RemoteExecutionError."""
        done = self.hosts.ask(host, verb, stdin, HAND_SECONDS)
        self.await_ready(host, float(done["at"]), seconds, up)

    def await_ready(self, host: SiteHost, since: float, seconds: float, up: Collection[str]) -> None:
        """Ready as told by the kubelet of now: `since` is when the one before had ended. Raises HostError."""

        def ready() -> bool:
            try:
                lacks = self.lacking(host, since, up)
            except (HostError, RemoteExecutionError, KubeError) as error:  # the network may have a moment's trouble
                lacks = str(error)
            if lacks:
                raise NotYet(lacks)
            return True

        until(ready, seconds, self.patience.pause, lambda lacks: HostError(f"after {seconds:.0f} s {lacks}"))

    def lacking(self, host: SiteHost, since: float, up: Collection[str]) -> str:
        report = self.hosts.ask(host, "report")
        needed = {*report["wants"], *(unit for unit in report["serves"] if unit in up)}
        # What is started again and again is hardly ever found failed: it is not active.
        down = sorted(unit for unit in needed if report["units"].get(unit) != "active")
        units_down = f" ({', '.join(down)}: not active)" if down else ""
        if host.joins and nodes.beats(self.kube, host.node) <= since:
            return f"its kubelet has said nothing{units_down}"
        if host.joins and not nodes.ready(self.kube.find("nodes", host.node)):
            return f"it is not Ready{units_down}"
        return units_down.strip()

    def back(self, host: SiteHost, version: str, why: str, up: Collection[str], *, leave_cordoned: bool) -> None:
        """Always raises ApplyError."""
        self.tell(f"{host.name}: {why}. Its bundle of before comes back")
        try:
            self.take(host, "back", json.dumps({"version": version}).encode(), self.patience.back_seconds, up)
        except (HostError, RemoteExecutionError, KubeError) as error:
            raise ApplyError(
                f"{host.name} has not taken its new bundle: {why}. Nor is it Ready with the one before: {error}. It "
                "stays cordoned, and nothing runs there; the other hosts are as they were. `journalctl -u kubelet` "
                "there says more. When it is Ready again, run the command again."
            ) from None
        if host.joins:
            nodes.release(self.kube, host.node, leave_cordoned=leave_cordoned)
        raise ApplyError(
            f"{host.name} has not taken its new bundle: {why}. It has the one before again and is Ready; no other "
            "host was begun. Correct the bundle, `landbridge up`, and run the command again."
        )
