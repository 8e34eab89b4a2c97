"""When work begins, as people type it. Pure."""

import re
from datetime import datetime, timedelta

from landbridge.durations import MOST, duration
from landbridge.errors import UsageError

CLOCK = re.compile(r"(\d{1,2}):(\d\d)")
FORMS = "Write 22:00, 2026-12-01T22:00, 2026-12-01T22:00+01:00 or, from now on, 2h"


def moment(text: str, now: datetime) -> datetime:
    """`now` is in the zone of who types: their clock is meant where the text names none. Raises UsageError."""
    try:
        if (long := duration(text)) is not None:
            return now + long
        if found := CLOCK.fullmatch(text):
            today = now.replace(hour=int(found[1]), minute=int(found[2]), second=0, microsecond=0)
            return today if today > now else today + timedelta(days=1)
        at = datetime.fromisoformat(text)
    except ValueError as error:
        why = str(error) if "too long" in str(error) else f"{text} is no time."
        raise UsageError(f"{why} {FORMS}.") from None
    there = at if at.tzinfo else at.replace(tzinfo=now.tzinfo)
    if there - now > MOST:
        raise UsageError(f"{text} is more than {MOST.days} days away. {FORMS}.")
    return there
