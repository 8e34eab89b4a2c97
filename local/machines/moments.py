"""When a timer's OnCalendar= comes next: systemd.time(7)'s events, in UTC as the machines' clocks are."""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

NAMED = {
    "minutely": "*-*-* *:*:00",
    "hourly": "*-*-* *:00:00",
    "daily": "*-*-* 00:00:00",
    "weekly": "Mon *-*-* 00:00:00",
    "monthly": "*-*-01 00:00:00",
    "yearly": "*-01-01 00:00:00",
}
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
FORM = re.compile(
    r"(?:(?P<days>[A-Za-z][A-Za-z.,]*)\s*)?"
    r"(?:(?:(?P<year>[\d*/.,]+)-)?(?P<month>[\d*/.,]+)-(?P<day>[\d*/.,]+)\s*)?"
    r"(?:(?P<hour>[\d*/.,]+):(?P<minute>[\d*/.,]+)(?::(?P<second>[\d*/.,]+))?)?"
    r"(?:\s*UTC)?"
)
RIGHT = "expected a moment such as hourly, daily, *:0/15 or Mon *-*-* 04:30:00"
# Sixty years hold every date on every day of the week.
FAR_DAYS = 60 * 366


class Calendar(NamedTuple):
    """The values that each part of a moment may have."""

    weekdays: frozenset[int]
    years: frozenset[int]
    months: frozenset[int]
    days: frozenset[int]
    hours: tuple[int, ...]
    minutes: tuple[int, ...]
    seconds: tuple[int, ...]

    def after(self, moment: datetime) -> datetime | None:
        """The first moment later than `moment`, if there is one in a lifetime."""
        start = moment.astimezone(UTC)
        day = start.replace(hour=0, minute=0, second=0, microsecond=0)
        for _ in range(FAR_DAYS):
            if self.has(day) and (found := self.within(day, start)):
                return found
            day += timedelta(days=1)
        return None

    def has(self, day: datetime) -> bool:
        return (
            day.year in self.years
            and day.month in self.months
            and day.day in self.days
            and day.weekday() in self.weekdays
        )

    def within(self, day: datetime, start: datetime) -> datetime | None:
        moments = (
            found
            for hour in self.hours
            if day.replace(hour=hour, minute=59, second=59) > start
            for minute in self.minutes
            if day.replace(hour=hour, minute=minute, second=59) > start
            for second in self.seconds
            if (found := day.replace(hour=hour, minute=minute, second=second)) > start
        )
        return next(moments, None)


def calendar(text: str) -> Calendar:
    """Reads an OnCalendar= value."""
    match = FORM.fullmatch(NAMED.get(text, text).strip())
    if not match or not text:
        raise ValueError(RIGHT)
    part = match.groupdict()
    return Calendar(
        weekdays(part["days"]),
        frozenset(values(part["year"] or "*", 1970, 2199)),
        frozenset(values(part["month"] or "*", 1, 12)),
        frozenset(values(part["day"] or "*", 1, 31)),
        # A date alone means its first second.
        tuple(values(part["hour"] or "0", 0, 23)),
        tuple(values(part["minute"] or "0", 0, 59)),
        tuple(values(part["second"] or "0", 0, 59)),
    )


def weekdays(text: str | None) -> frozenset[int]:
    if not text:
        return frozenset(range(7))
    found: set[int] = set()
    for part in text.lower().split(","):
        first, dots, last = part.partition("..")
        if first[:3] not in DAYS or (dots and last[:3] not in DAYS):
            raise ValueError(f"{part} is no day of the week: {RIGHT}")
        low = DAYS.index(first[:3])
        found.update(range(low, (DAYS.index(last[:3]) if dots else low) + 1))
    return frozenset(found)


def values(text: str, low: int, high: int) -> list[int]:
    """The numbers that a part such as `*`, `5`, `1,2`, `8..17` or `0/15` allows."""
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(?:\*|(\d+)(?:\.\.(\d+))?)(?:/(\d+))?", part)
        if not match:
            raise ValueError(f"{part} is no part of a moment: {RIGHT}")
        start = int(match[1]) if match[1] else low
        repeated = match[3] or match[1] is None
        end = int(match[2]) if match[2] else (high if repeated else start)
        if not low <= start <= end <= high or match[3] == "0":
            raise ValueError(f"{part} is not within {low} and {high}")
        found.update(range(start, end + 1, int(match[3] or 1)))
    return sorted(found)
