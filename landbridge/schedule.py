"""Runs work on many stacks: each after those it depends on, independent ones side by side."""

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import NamedTuple

SIDE_BY_SIDE = 8
TICK_SECONDS = 0.1


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

    Dependencies outside the mapping count as met. After `stop` is set nothing new begins. A KeyboardInterrupt sets it,
    calls `on_interrupt`, and waits for what runs; so does every further one.
    """
    stop = stop or threading.Event()
    waiting = {name: {d for d in names if d in depends_on} for name, names in depends_on.items()}
    running: dict[Future[bool], str] = {}
    done: dict[str, bool] = {}
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        while waiting or running:
            try:
                for name in [n for n, needs in waiting.items() if needs <= done.keys() or stop.is_set()]:
                    needs = waiting.pop(name)
                    failed = next((n for n in sorted(needs) if not done.get(n, True)), None)
                    if failed or stop.is_set():
                        done[name] = False
                        skip(name, Refusal(failed))
                    else:
                        running[pool.submit(work, name)] = name
                ended, _ = wait(running, timeout=TICK_SECONDS, return_when=FIRST_COMPLETED)
                for future in ended:
                    done[running.pop(future)] = future.result()
            except KeyboardInterrupt:
                stop.set()
                on_interrupt()
