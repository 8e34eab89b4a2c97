"""Days and time zones as the fleet file writes them."""

from datetime import date
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def time_zone(name: str) -> ZoneInfo:
    """Raises ValueError."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{name} is no time zone", "Write one such as Europe/Berlin") from None


def days(text: str) -> tuple[date, date]:
    """First and last of `2026-12-24` or `2026-12-24/2027-01-02`. Raises ValueError."""
    first, _, last = text.partition("/")
    try:
        found = date.fromisoformat(first), date.fromisoformat(last or first)
    except ValueError:
        raise ValueError(f"{text} is no day and no two of them", "Write 2026-12-24 or 2026-12-24/2027-01-02") from None
    if found[1] < found[0]:
        raise ValueError(f"{text} ends before it begins", "Write the first day first")
    return found
