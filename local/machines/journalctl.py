"""The `journalctl` of local machines: the part of the real one's command line that follows a journal, on units' logs.

There is no kernel's log: it is the laptop's. An entry's time is when it is read, within a second of when it came.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER, END = Path("/var/log/units"), ".log"
# What there is and goes without saying, and what tells where it shall begin.
OPTIONS = {"--output=json", "--all", "--no-tail", "--follow", "--boot", "--no-pager", "--quiet"}
FIELDS, AFTER = "--output-fields=", "--after-cursor="
USAGE = f"journalctl --output=json --follow [--boot|{AFTER}CURSOR] [{FIELDS}FIELD,…] [--all] [--no-tail]"
CHUNK, SECONDS = 1 << 18, 1.0


class Place(NamedTuple):
    """In a unit's log: `inode` tells it from the one before, which is NAME.1 then."""

    inode: int
    offset: int


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    unknown = [one for one in given if one not in OPTIONS and not one.startswith((FIELDS, AFTER))]
    if unknown or not {"--output=json", "--follow"} <= set(given):
        sys.stderr.write(f"Local machines honour: {USAGE}\n")
        return 2
    try:
        places = begin(next((one.removeprefix(AFTER) for one in given if one.startswith(AFTER)), "{}"))
    except (ValueError, TypeError) as error:
        sys.stderr.write(f"journalctl: the cursor is none of this machine's: {error}\n")
        return 1
    while True:
        for entry in entries(places):
            sys.stdout.write(json.dumps(entry) + "\n")
        sys.stdout.flush()
        time.sleep(SECONDS)


def begin(cursor: str) -> dict[str, Place]:
    """By units. Raises ValueError and TypeError."""
    return {unit: Place(*place) for unit, place in json.loads(cursor).items()}


def entries(places: dict[str, Place], folder: Path = FOLDER) -> Iterator[dict[str, str]]:
    """Whole lines that came since; `places` goes with them."""
    for log in sorted(folder.glob(f"*{END}")):
        unit = log.name.removesuffix(END)
        for path in (log.with_name(f"{log.name}.1"), log):
            for line in lines(path, unit, places):
                yield {
                    "__CURSOR": json.dumps(places),
                    "__REALTIME_TIMESTAMP": str(time.time_ns() // 1000),
                    "_SYSTEMD_UNIT": unit,
                    "MESSAGE": line,
                }


def lines(path: Path, unit: str, places: dict[str, Place]) -> Iterator[str]:
    """Of one file, from its place on. The one before counts as long as it is where the place is."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        inode, before = os.fstat(file.fileno()).st_ino, places.get(unit)
        if path.suffix != END and (before is None or before.inode != inode):
            return
        place = before if before and before.inode == inode else Place(inode, 0)
        file.seek(place.offset)
        for line in file:
            if not line.endswith(b"\n"):
                return
            place = Place(inode, place.offset + len(line))
            places[unit] = place
            yield line.rstrip(b"\n").decode(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
