"""Times as people write them: 90s, 30m, 24h, 2d. Pure."""

import re
from datetime import timedelta

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
# Beyond it a moment from now may be none that a calendar has.
MOST = timedelta(days=365)
WRITTEN = re.compile(r"(\d+(?:\.\d+)?)([smhd])")


def duration(text: str) -> timedelta | None:
    """None for what is no time. Raises ValueError for one that is too long."""
    found = WRITTEN.fullmatch(text)
    if found is None:
        return None
    try:
        long = timedelta(**{UNITS[found[2]]: float(found[1])})
    except OverflowError:
        long = timedelta.max
    if long > MOST:
        raise ValueError(f"{text} is too long: {MOST.days}d at most.")
    return long
