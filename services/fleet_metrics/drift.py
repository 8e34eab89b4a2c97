"""How many resources of each stack differed at the last look, and when that was: from the names of what looks have left
in a fleet bucket (landbridge/status/left.py), none of which is read.
"""

import re
from datetime import UTC, datetime

from .backups import STAMP, Listed
from .metrics import Labels, Look
from .settings import Drift

LOOK = re.compile(r"(?P<stack>[^/]+)/(?P<at>\d{4}-\d\d-\d\dT\d{6}Z)-(?P<count>\d+)\.json")


def looks(listed: Listed, told: Drift) -> dict[Labels, Look]:
    found: dict[Labels, Look] = {}
    for key in listed(told.folder):
        if one := LOOK.fullmatch(key.removeprefix(told.folder)):
            look = Look(datetime.strptime(one["at"], STAMP).replace(tzinfo=UTC).timestamp(), int(one["count"]))
            found[(one["stack"],)] = max(look, found.get((one["stack"],), look))
    return found
