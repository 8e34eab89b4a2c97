"""Looks at something until it is as it must be, or until its time is over."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


class NotYet(Exception):
    """It is not as it must be; says what ails it."""


def until(look: Callable[[], Found], seconds: float, pause: float, late: Callable[[str], Exception]) -> Found:
    """What a look gives as soon as that is true. When the time is over, `late` makes an error of what ails it then."""
    deadline = time.monotonic() + seconds
    while True:
        ails = ""
        try:
            if found := look():
                return found
        except NotYet as why:
            ails = str(why)
        if time.monotonic() > deadline:
            raise late(ails)
        time.sleep(pause)
