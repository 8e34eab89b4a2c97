"""What a condition of a role lets its principal do with which blobs, as add-ons write conditions: a form of our own.

A condition of another form is not read, and so never taken for one that is narrow enough.
"""

import re
from typing import NamedTuple

# Of those that Storage Blob Data Contributor has.
ACTIONS = ("write", "add/action", "delete")
ACT = r"ActionMatches\{'Microsoft\.Storage/storageAccounts/blobServices/containers/blobs/([\w/]+)'\}"
# It is another action, or one of such blobs; and an action that never is.
CLAUSE = re.compile(rf"\(!\({ACT}(?: AND (?:NOT )?SubOperationMatches\{{'Blob\.List'\}})?\) OR \(?([^()]+)\)?\)")
NEVER = re.compile(rf"!\({ACT}\)")
FIT = re.compile(r"@(?:Resource\[[^\]]+:path\]|Request\[[^\]]+:prefix\]) StringLike '([^']+)'")


class Told(NamedTuple):
    """Patterns of the blobs that may be seen (read and listed), and that may be changed in any way."""

    seen: frozenset[str]
    changed: frozenset[str]


def told(condition: str) -> Told | None:
    """None is for a condition that is not of the form, or that leaves some action open."""
    found: dict[str, set[str]] = {}
    for action, fits in CLAUSE.findall(condition):
        parts = [FIT.fullmatch(part) for part in fits.split(" OR ")]
        if not all(parts):
            return None
        found.setdefault(action, set()).update(part[1] for part in parts if part)
    rest = CLAUSE.sub("", condition)
    ended = NEVER.findall(rest)
    if NEVER.sub("", rest).replace(" AND ", "") or "move/action" not in ended or set(ACTIONS) - {*found, *ended}:
        return None
    seen = [named for named in CLAUSE.finditer(condition) if named[1] == "read"]
    # One clause is for reading, and one for listing.
    if len({named[0].partition(" OR ")[0] for named in seen}) != 2:
        return None
    changed = frozenset(pattern for action in ACTIONS for pattern in found.get(action, ()))
    return Told(frozenset(found["read"]), changed)
