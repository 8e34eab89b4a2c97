"""Lists of clouds have a day: what is older than `OLD_DAYS` is told as old wherever it is shown."""

import datetime

OLD_DAYS = 90


def days_old(date: datetime.date | None, today: datetime.date) -> int:
    """0 for what has no date."""
    return max(0, (today - date).days) if date else 0
