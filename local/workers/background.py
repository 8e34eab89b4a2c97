"""Threads of the kubelet: its end if one of them fails, and tries until something works."""

import os
import random
import threading
import time
from collections.abc import Callable
from typing import NoReturn, TypeVar

from kube_http import Answer

from .unit import say

# Kubelet itself goes up to 7 s, and a fleet that boots is one step slower for each.
FIRST_PAUSE, MOST_PAUSE = 0.5, 2.0
Made = TypeVar("Made")


def background(work: Callable[[], None]) -> None:
    threading.Thread(target=vital, args=(work,), daemon=True).start()


def vital(work: Callable[[], None]) -> None:
    """Ends the program with it: a kubelet that renews nothing any more must not look well, and its unit heals it."""
    try:
        work()
    except Exception as error:
        say(f"kubelet: ERROR: {type(error).__name__}: {error}")
        leave(1)


def leave(code: int) -> NoReturn:
    """Ends the program at once. Python's own end aborts it (SIGABRT) where a thread is just writing an error."""
    os._exit(code)


def follow(what: str, work: Callable[[], None], pause: float = 2.0) -> None:
    """For ever: begins again where a list or watch of `what` has failed or ended."""
    while True:
        try:
            work()
        except (OSError, Answer) as error:
            say(f"{what}: {error}")
            time.sleep(pause)


def persist(work: Callable[[], Made]) -> Made:
    """Tries until it works: the API may be away for as long as it likes."""
    pause = FIRST_PAUSE
    while True:
        try:
            return work()
        except (OSError, Answer) as error:
            say(f"tries again in {pause:g} s: {error}")
        time.sleep(pause * random.uniform(0.8, 1.2))  # noqa: S311  (no secret)
        pause = min(2 * pause, MOST_PAUSE)
