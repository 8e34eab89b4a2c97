"""Where what a cluster's recorder saw lies in the fleet bucket of its home: JSON lines by day, for 30 days.

A folder of a cluster has a part for each minute or so in which something was seen, DAY/TIME-REPLICA.jsonl.gz. When an
hour is over its parts become one file, DAY/HOUR.jsonl.gz, and when a day is, all of it becomes DAY.jsonl.gz. Each line
is an observation (evidence/observation.py). Operators read all of a cluster; what is of one team lies a second time
where its people may read it, and nobody else's.
"""

import gzip
import zlib
from datetime import UTC, date, datetime

from . import recorder

ENDING = ".jsonl.gz"


def folder(cluster: str, team: str = "") -> str:
    """Of all of a cluster, or of what is one team's there; it ends in a slash."""
    return recorder.team_folder(team, cluster) if team else recorder.folder(cluster)


def part_key(below: str, at: float, replica: str) -> str:
    """`below` is a folder, `at` when the part was made, in seconds of the epoch."""
    return f"{below}{datetime.fromtimestamp(at, UTC):%Y-%m-%d/%H%M%S}-{replica}{ENDING}"


def hour_key(below: str, at: datetime) -> str:
    return f"{below}{at:%Y-%m-%d/%H}{ENDING}"


def hour_of(key: str) -> str:
    """The key of the file that a part becomes: the start of its own."""
    folder, _, name = key.rpartition("/")
    return f"{folder}/{name[:2]}{ENDING}"


def day_key(below: str, day: date) -> str:
    return f"{below}{day}{ENDING}"


def parts_prefix(below: str, day: date) -> str:
    return f"{below}{day}/"


def unpacked(data: bytes) -> list[bytes]:
    """Lines of a part, or of the audit log's. What can't be read has none: what comes after it is read still."""
    try:
        return gzip.decompress(data).splitlines()
    except (OSError, EOFError, zlib.error):
        return []
