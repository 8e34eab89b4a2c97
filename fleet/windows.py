"""When announced work may begin: windows in time zones of those who work there, and days on which nothing begins."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta

from .hours import days, time_zone
from .model import Fleet, Maintenance, Window

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# A window comes at least once a week; frozen days may be many in a row.
LOOK_DAYS = 400
Span = tuple[datetime, datetime]
Wrong = tuple[tuple[str | int, ...], str, str]


def of(told: Maintenance, pool: str, place: str) -> Sequence[Window]:
    """A pool's own, else its site's or region's."""
    return told.windows.get(pool) or told.windows.get(place) or ()


def opens(windows: Sequence[Window], frozen: Sequence[str], at: datetime) -> datetime | None:
    """The first moment from `at` on at which work may begin; None where there is none within a year."""
    closed = [days(text) for text in frozen]
    for begun, ended in _spans(windows, at.astimezone(UTC)):
        free = _free(begun, closed)
        if free < ended:
            return free
    return None


def _spans(windows: Sequence[Window], at: datetime) -> Iterator[Span]:
    """In order of their beginnings, none of which is before `at`."""
    if not windows:
        yield at, at + timedelta(days=LOOK_DAYS)
        return
    for number in range(-1, LOOK_DAYS):
        day = (at + timedelta(days=number)).date()
        found = [span for one in windows if (span := _span(one, day)) and span[1] > at]
        yield from sorted((max(begun, at), ended) for begun, ended in found)


def _span(window: Window, day: date) -> Span | None:
    if WEEKDAYS[day.weekday()] not in window.days:
        return None
    begins, ends = (_at(day, clock, window.zone) for clock in (window.begins, window.ends))
    if ends <= begins:
        ends = _at(day + timedelta(days=1), window.ends, window.zone)
    return begins, ends


def _at(day: date, clock: str, zone: str) -> datetime:
    hours, minutes = map(int, clock.split(":"))
    more, hours = divmod(hours, 24)
    there = datetime.combine(day + timedelta(days=more), time(hours, minutes), time_zone(zone))
    return there.astimezone(UTC)


def _free(at: datetime, closed: Sequence[tuple[date, date]]) -> datetime:
    """`at`, or the midnight in UTC at which the frozen days that hold it end."""
    for first, last in sorted(closed):
        if first <= at.date() <= last:
            at = datetime.combine(last + timedelta(days=1), time(), UTC)
    return at


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry."""
    known = [*fleet.pools, *fleet.sites, *fleet.regions]
    for name, windows in fleet.maintenance.windows.items():
        if name not in known:
            what = f"maintenance has windows for {name}, which is no pool, no site and no region"
            yield ("maintenance", "windows", name), what, f"Known: {', '.join(known)}"
        for number, window in enumerate(windows):
            if window.begins == window.ends:
                what = f"a window of {name} begins and ends at {window.begins}"
                remedy = 'For a whole day leave both out, or write begins: "00:00", ends: "24:00"'
                yield ("maintenance", "windows", name, number), what, remedy
