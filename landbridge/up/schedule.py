"""Runs work on many stacks: each after those it depends on, independent ones side by side, until told to stop."""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, NamedTuple

SIDE_BY_SIDE = 8
TICK_SECONDS = 0.1
# Ctrl-C, `kill`, and a terminal that is closed.
INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Refusal(NamedTuple):
    """Why a stack's work was not begun: the stack that failed before it, or None when the run was interrupted."""

    after: str | None


def run(
    depends_on: Mapping[str, Iterable[str]],
    work: Callable[[str], bool],
    skip: Callable[[str, Refusal], None] = lambda _name, _refusal: None,
    stop: threading.Event | None = None,
    on_interrupt: Callable[[], None] = lambda: None,
) -> None:
    """Calls `work` for each stack, in a thread; one that returns False makes its dependents skipped, others go on.

    Dependencies outside the mapping count as met. An interrupt sets `stop` and calls `on_interrupt`: nothing new begins
    then, what runs is waited for. Exceptions of `work` are the caller's. Only the main thread may call this.
    """
    stop = stop or threading.Event()
    waiting = {name: {d for d in names if d in depends_on} for name, names in depends_on.items()}
    running: dict[Future[bool], str] = {}
    done: dict[str, bool] = {}
    with interrupts(stop, on_interrupt), ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        while waiting or running:
            for name in [n for n, needs in waiting.items() if needs <= done.keys() or stop.is_set()]:
                failed = next((n for n in sorted(waiting.pop(name)) if not done.get(n, True)), None)
                if failed or stop.is_set():
                    done[name] = False
                    skip(name, Refusal(failed))
                else:
                    running[pool.submit(work, name)] = name
            ended, _ = wait(running, timeout=TICK_SECONDS, return_when=FIRST_COMPLETED)
            for future in ended:
                done[running.pop(future)] = future.result()


@contextmanager
def interrupts(stop: threading.Event, on_interrupt: Callable[[], None]) -> Iterator[None]:
    """Turns signals into a set `stop` and a call, each time one comes, for as long as the body runs."""

    def interrupt(_number: int, _frame: Any) -> None:
        stop.set()
        on_interrupt()

    before = {number: signal.signal(number, interrupt) for number in INTERRUPTS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
