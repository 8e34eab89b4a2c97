"""The local AWS's time, which a test can move on instead of waiting: POST /landbridge-api/clock {"advance": 3600}."""

import json
import time

_ahead = 0.0


def now() -> float:
    """Seconds since 1970, plus all that was advanced."""
    return time.time() + _ahead


def ahead() -> float:
    """How many seconds it was moved on."""
    return _ahead


def advance(body: bytes) -> float:
    """Moves the time on; what it is then. Raises TypeError, KeyError or ValueError for anything but a number >= 0."""
    global _ahead
    seconds = float(json.loads(body)["advance"])
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"time moves on, never back: {seconds}")
    _ahead += seconds
    return now()
