"""Tries what fails for a while only."""

import time
from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")


def persist(attempt: Callable[[], Made], seconds: float, pause: float, failure: type[Exception]) -> Made:
    """What it gives once it does not fail so. When the time is over, its last failure is raised."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return attempt()
        except failure:
            if time.monotonic() > deadline:
                raise
        time.sleep(pause)
