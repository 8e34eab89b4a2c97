"""Where what a cluster's recorder saw lies in the fleet bucket of its home: JSON lines by day, for 30 days.

A folder of a cluster has a part for each minute or so in which something was seen, DAY/TIME-REPLICA.jsonl.gz. When a
day is over its parts become one file, DAY.jsonl.gz. Each line is an observation (evidence/observation.py). Operators
read all of a cluster; what is of one team lies a second time where its people may read it, and nobody else's.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta

RECORDS, TEAM_RECORDS = "records", "team-records"
DAYS = 30
ENDING = ".jsonl.gz"
PART = re.compile(r"(\d{4}-\d\d-\d\d)/(\d{6})-[^/]+" + re.escape(ENDING))


def folder(cluster: str, team: str = "") -> str:
    """Of all of a cluster, or of what is one team's there; it ends in a slash."""
    return f"{TEAM_RECORDS}/{team}/{cluster}/" if team else f"{RECORDS}/{cluster}/"


def part_key(below: str, at: float, replica: str) -> str:
    """`below` is a folder, `at` when the part was made, in seconds of the epoch."""
    return f"{below}{datetime.fromtimestamp(at, UTC):%Y-%m-%d/%H%M%S}-{replica}{ENDING}"


def day_key(below: str, day: date) -> str:
    return f"{below}{day}{ENDING}"


def parts_prefix(below: str, day: date) -> str:
    return f"{below}{day}/"


def days(since: datetime, until: datetime) -> list[date]:
    """Every day of UTC of which something is asked, the first first."""
    first, last = since.astimezone(UTC).date(), until.astimezone(UTC).date()
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


def parts_from(keys: Iterable[str], below: str, since: datetime) -> Iterator[str]:
    """Of the keys those of parts that were made then or later."""
    first = f"{since.astimezone(UTC):%Y-%m-%d/%H%M%S}"
    for key in keys:
        found = PART.fullmatch(key.removeprefix(below))
        if found and f"{found[1]}/{found[2]}" >= first:
            yield key
