"""The processes of one service: starting them, knowing which live, signalling them."""

import signal
from collections.abc import Callable
from uuid import uuid4

from . import context, processes, spawn
from .commands import Command
from .logs import Logs
from .loop import Loop
from .units import Unit

WHOLE_GROUP = ("control-group", "mixed")


class Group:
    """All processes since a service's last start."""

    def __init__(self, loop: Loop, logs: Logs, name: str) -> None:
        self.loop, self.logs, self.name = loop, logs, name
        self.reset()

    def reset(self) -> None:
        """A new start begins: what it starts has a number of its own."""
        self.main: int | None = None
        self.exit_status: int | None = None
        self.broken: str | None = None  # why the newest process did not become its program
        self.leaders: list[int] = []  # every process of ours leads a session
        self.own: set[int] = set()  # our children that live
        self.invocation = uuid4().hex

    def launch(self, unit: Unit, command: Command, ended: Callable[[int], None], *, main: bool) -> None:
        """Starts a process; `ended` gets its status. Raises ContextError or OSError."""
        log = self.logs.of(self.name)
        given = {"INVOCATION_ID": self.invocation}
        if self.main:
            given["MAINPID"] = str(self.main)
        made = context.make(unit, command, log.write_end, given, notify=main and unit["Type"] == "notify")
        for remark in (*made.remarks, *spawn.refusals(made.process)):
            self.logs.say_once(self.name, remark)
        pid, self.broken = spawn.start(made.process)
        made.close()
        if self.broken:
            self.logs.say(self.name, self.broken)
        self.leaders.append(pid)
        self.own.add(pid)
        if main:
            self.main = pid
        own = self.own

        def logged(status: int) -> None:
            log.drain()
            own.discard(pid)
            if pid == self.main:
                self.main, self.exit_status = None, status
            ended(status)

        self.loop.on_exit(pid, logged)

    def living(self, mode: str) -> set[int]:
        """Processes whose end a stop with this KillMode= waits for."""
        if mode in WHOLE_GROUP:
            return processes.members(self.leaders, self.invocation)
        return self.own

    def ask(self, mode: str, number: signal.Signals) -> None:
        """The first, gentle signal of a stop."""
        first = self.living(mode)
        if mode == "mixed":
            first = {self.main} if self.main else self.own
        processes.send(first, number)
        # A process that is halted hears nothing until it goes on.
        processes.send(first, signal.SIGCONT)

    def kill(self, mode: str) -> None:
        processes.send(self.living(mode), signal.SIGKILL)


def in_words(status: int) -> str:
    """How a process ended, from `os.waitstatus_to_exitcode`."""
    if status >= 0:
        return f"ended with status {status}"
    known = -status in set(signal.Signals)
    return f"was killed by {signal.Signals(-status).name if known else f'signal {-status}'}"
