"""Commands that were sent to machines through Systems Manager, and what has come of each.

Systems Manager user guide, "Understanding command statuses" and "Understanding command timeouts". The machines service
gets what waits with `world`, runs it and tells here when it has started and how it ended.
"""

import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from . import clock, machine_reports

# GetCommandInvocation: "the first 24,000 characters written by the plugin to stdout", 8,000 of stderr.
OUT, ERR = 24_000, 8_000
# What the agent reports for a command that it had to kill: 128 + SIGKILL.
KILLED = 137
OVER = ("Success", "Failed", "TimedOut", "Cancelled")
# A command that was sent a moment ago is unknown to those who ask at once: that caller must be able to bear it.
UNSEEN_SECONDS = 10.0


@dataclass
class Invocation:
    """A command on one machine. The code is -1 until it has ended there by itself or by the agent's hand."""

    instance: str
    status: str = "Pending"
    details: str = "Pending"
    code: int = -1
    out: str = ""
    err: str = ""
    started: float | None = None
    ended: float | None = None
    asked: bool = False

    def end(self, status: str, details: str, code: int = -1, out: str = "", err: str = "") -> None:
        self.status, self.details, self.code, self.ended = status, details, code, clock.now()
        self.out, self.err = out[:OUT], err[:ERR]


@dataclass
class Command:
    """`delivery` and `execution` are seconds: until it has to have started, and how long it may then run."""

    account: str
    region: str
    script: str
    folder: str
    delivery: int
    execution: int
    parameters: dict[str, list[str]]
    comment: str
    invocations: dict[str, Invocation]
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    sent: float = field(default_factory=clock.now)
    made: float = field(default_factory=lambda: time.time())
    cancelled: bool = False

    @property
    def expires(self) -> float:
        """SendCommand, ExpiresAfter: the delivery's time and the execution's."""
        return self.sent + self.delivery + self.execution

    def settle(self) -> None:
        """Ends what has waited too long, or belongs to a machine that never told more."""
        now = clock.now()
        for one in self.invocations.values():
            late = now >= (self.sent + self.delivery if one.status == "Pending" else self.expires)
            if one.status not in OVER and late:
                one.end("TimedOut", "DeliveryTimedOut")

    @property
    def status(self) -> str:
        """Of all its invocations together."""
        found = {one.status for one in self.invocations.values()}
        if found - set(OVER):
            return "Pending" if found == {"Pending"} else "Cancelling" if self.cancelled else "InProgress"
        return next(status for status in ("Failed", "TimedOut", "Cancelled", "Success") if status in found)


_commands: dict[str, Command] = {}
_lock = threading.RLock()


def send(command: Command) -> None:
    with _lock:
        _commands[command.id] = command


def sent(account: str, region: str) -> list[Command]:
    """The newest first."""
    with _lock:
        found = [one for one in _commands.values() if (one.account, one.region) == (account, region)]
        for one in found:
            one.settle()
    return found[::-1]


def invocation_of(command: Command, instance: str) -> Invocation | None:
    """The invocation, for somebody who asks after it; None while it has not come to be known."""
    one = command.invocations.get(instance)
    if one is None:
        return None
    first, one.asked = not one.asked, True
    return None if first and time.time() < command.made + UNSEEN_SECONDS else one


def cancel(command: Command, instances: Iterable[str]) -> None:
    """Nothing of it starts any more; what runs is to be killed by its machine's agent."""
    with _lock:
        command.cancelled = True
        for name in instances:
            one = command.invocations[name]
            if one.status == "Pending":
                one.end("Cancelled", "Cancelled")
            elif one.status not in OVER:
                one.status = one.details = "Cancelling"


def waiting(instance: str) -> Iterator[dict[str, Any]]:
    """What a machine has to start, or to stop."""
    with _lock:
        for command in list(_commands.values()):
            one = command.invocations.get(instance)
            if one is None or one.status in OVER:
                continue
            command.settle()
            if one.status in ("Pending", "Cancelling"):
                yield {
                    "id": command.id,
                    "script": command.script,
                    "folder": command.folder,
                    "seconds": command.execution,
                    "stop": one.status == "Cancelling",
                }


def record(what: dict[str, Any]) -> bool:
    """From a machine: it starts a command, or how that ended. False if nobody waits for it any more."""
    with _lock:
        command = _commands[what["id"]]
        one = command.invocations[what["instance"]]
        command.settle()
        if one.status in OVER:
            return False
        if what["state"] == "started":
            if one.status == "Pending":
                one.status, one.details, one.started = "InProgress", "InProgress", clock.now()
        elif what["state"] == "late":
            one.end("TimedOut", "ExecutionTimedOut", KILLED)
        elif what["state"] == "stopped":
            one.end("Cancelled", "Cancelled", KILLED)
        else:
            status = "Failed" if what["code"] else "Success"
            one.end(status, status, what["code"], what["out"], what["err"])
    machine_reports.changed()
    return True
