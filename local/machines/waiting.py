"""Waits for descriptors, however high their numbers are: select(2) ends at 1,024, which hundreds of machines pass."""

import math
import select


def readable(*descriptors: int, seconds: float | None = None) -> set[int]:
    """Those that have something to read, or have ended; empty after so many seconds. Raises OSError."""
    poll = select.poll()
    for one in descriptors:
        poll.register(one, select.POLLIN)
    return {one for one, _ in poll.poll(None if seconds is None else math.ceil(seconds * 1000))}
