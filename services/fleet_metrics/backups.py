"""How old a ring's newest snapshot is, and its last restore that was tested: from the names of what lies in a fleet
bucket, none of which is read.
"""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

from .metrics import Labels
from .settings import Backup, Restores

# As machines call snapshots (components/control_plane/on_machine/etcd_backup.py), and drills what they leave of a
# restore (landbridge/drill/tested.py). Others lie deeper.
SNAPSHOT, RECORD = (re.compile(rf"(\d{{4}}-\d\d-\d\dT\d{{6}}Z)-\d+\.{kind}") for kind in ("db", "json"))
STAMP, DAY = "%Y-%m-%dT%H%M%SZ", "%Y-%m-%d"
# Keys below a prefix.
Listed = Callable[[str], Iterable[str]]


def newest(listed: Listed, folder: str, now: float, named: re.Pattern[str] = SNAPSHOT) -> float | None:
    """When it was taken, in the epoch; None where there is none. Mostly it is of today, and a month is a long list."""
    today = datetime.fromtimestamp(now, UTC)
    for day in (f"{today:{DAY}}", f"{today - timedelta(days=1):{DAY}}", ""):
        found = (named.fullmatch(key.removeprefix(folder)) for key in listed(folder + day))
        if taken := [datetime.strptime(one[1], STAMP).replace(tzinfo=UTC).timestamp() for one in found if one]:
            return max(taken)
    return None


def ages(listed: Listed, backups: Iterable[Backup], now: float) -> dict[Labels, float]:
    found = {(one.ring, one.where, one.region): newest(listed, one.folder, now) for one in backups}
    return {labels: taken for labels, taken in found.items() if taken is not None}


def restored(listed: Listed, restores: Iterable[Restores], now: float) -> dict[Labels, float]:
    found = {(one.ring, one.region): newest(listed, one.folder, now, RECORD) for one in restores}
    return {labels: tested for labels, tested in found.items() if tested is not None}
