"""Init's event loop: descriptors, timers, ended processes and signals, one thing after another in one thread."""

import contextlib
import heapq
import itertools
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable

Then = Callable[[], None]
Ended = Callable[[int], None]


class Alarm:
    """A call in the future, until it is cancelled."""

    def __init__(self, then: Then) -> None:
        self.then: Then | None = then

    def cancel(self) -> None:
        self.then = None


class Loop:
    """Runs until `end`. Reaps every child: those it was told of, and orphans, which process 1 inherits."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self.alarms: list[tuple[float, int, Alarm]] = []
        self.order = itertools.count()
        self.children: dict[int, Ended] = {}
        self.signals: dict[int, Then] = {}
        self.reaped: list[Then] = []
        self.stopping = False
        heard, write_end = socket.socketpair()
        heard.settimeout(0)
        write_end.settimeout(0)
        signal.set_wakeup_fd(write_end.fileno(), warn_on_full_buffer=False)
        self.sockets = heard, write_end
        self.watch(heard.fileno(), self.take_signals)
        self.on_signal(signal.SIGCHLD, self.reap)

    def on_signal(self, number: signal.Signals, then: Then) -> None:
        self.signals[number] = then
        # The handler does nothing: the number that reaches the socket wakes the loop.
        signal.signal(number, lambda _number, _frame: None)

    def watch(self, descriptor: int, then: Then) -> None:
        self.selector.register(descriptor, selectors.EVENT_READ, then)

    def unwatch(self, descriptor: int) -> None:
        self.selector.unregister(descriptor)

    def after(self, seconds: float, then: Then) -> Alarm:
        """Calls `then` in so many seconds; never if they are infinite."""
        alarm = Alarm(then)
        if seconds != float("inf"):
            heapq.heappush(self.alarms, (time.monotonic() + seconds, next(self.order), alarm))
        return alarm

    def on_exit(self, pid: int, then: Ended) -> None:
        """Calls `then` with the status as `os.waitstatus_to_exitcode` gives it."""
        self.children[pid] = then

    def end(self) -> None:
        self.stopping = True

    def run(self) -> None:
        while not self.stopping:
            for key, _ in self.selector.select(self.patience()):
                key.data()
            self.ring()

    def patience(self) -> float | None:
        return max(0.0, self.alarms[0][0] - time.monotonic()) if self.alarms else None

    def ring(self) -> None:
        while self.alarms and self.alarms[0][0] <= time.monotonic():
            alarm = heapq.heappop(self.alarms)[2]
            if alarm.then:
                alarm.then()

    def take_signals(self) -> None:
        numbers: set[int] = set()
        with contextlib.suppress(BlockingIOError):
            while chunk := self.sockets[0].recv(4096):
                numbers.update(chunk)
        for number in sorted(numbers & set(self.signals)):
            self.signals[number]()

    def reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                if then := self.children.pop(pid, None):
                    then(os.waitstatus_to_exitcode(status))
        for then_all in self.reaped:
            then_all()
