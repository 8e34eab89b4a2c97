"""Tries again while a store is away: what a cloud or a link lacks for a while is no failure of the run that waits."""

import sys
import time
from collections.abc import Callable
from typing import TypeVar

from .errors import AwayError

FIRST_SECONDS, MOST_SECONDS = 2.0, 60.0
Made = TypeVar("Made")


def patiently(work: Callable[[], Made], seconds: float, sleep: Callable[[float], None] = time.sleep) -> Made:
    """Raises what `work` raises: AwayError only when `seconds` of pauses have not helped."""
    pause, left = FIRST_SECONDS, seconds
    while True:
        try:
            return work()
        except AwayError as error:
            if left <= 0:
                raise
            pause = min(pause, left)
            sys.stderr.write(f"code: {' '.join(str(error).split())}: trying again in {pause:.0f} seconds\n")
            sys.stderr.flush()
        sleep(pause)
        left, pause = left - pause, min(2 * pause, MOST_SECONDS)
