"""Until when the autoscaler does not ask a group again, which it writes down nowhere: pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from .autoscaler_status import AutoscalerStatus, moment

UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}
WORD = "backoff"


class Backoffs(NamedTuple):
    """The autoscaler's flags of that name: the first, the longest, and after what time without one it forgets."""

    first_seconds: float
    most_seconds: float
    forgotten_seconds: float


def seconds(duration: str) -> float:
    """Of Go's form: 1h, 1m30s. Raises ValueError."""
    parts = re.findall(r"(\d+(?:\.\d+)?)([hms])", duration)
    if not parts or "".join(number + unit for number, unit in parts) != duration:
        raise ValueError(f"{duration} is no duration such as 1m30s")
    return sum(float(number) * UNITS[unit] for number, unit in parts)


def begun(status: AutoscalerStatus, decisions: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Backoffs that are not among the decisions yet, as lines like theirs. Before each the group was asked to grow, and
    it begins when a refusal is seen, or else when a status first tells of it.
    """
    last: dict[tuple[str, str], float] = {}
    for one in decisions:
        key = (str(one["decision"]), str(one.get("group", "")))
        last[key] = max(last.get(key, 0.0), moment(one["at"]))
    for name, group in status.groups.items():
        grown, known = last.get(("grow", name), 0.0), last.get((WORD, name), 0.0)
        # A status from before the group was asked again is of the backoff before.
        if not group.backs_off or status.at <= grown or known > grown:
            continue
        refused = last.get(("refused", name), 0.0)
        at = refused if grown < refused <= status.at else status.at
        yield {"at": written(at), "decision": WORD, "group": name, "code": group.code, "why": group.sentence}


def ends(status: AutoscalerStatus, decisions: Sequence[Mapping[str, Any]], flags: Backoffs) -> dict[str, float]:
    """Group → the end of its backoff, in the epoch. A refusal begins one even if no status was seen that told of it."""
    began: dict[str, list[float]] = {}
    for one in decisions:
        if one["decision"] in (WORD, "refused"):
            began.setdefault(str(one["group"]), []).append(moment(one["at"]))
    backing = [name for name, group in status.groups.items() if group.backs_off and name in began]
    return {name: until(sorted(began[name]), flags) for name in backing}


def until(began: Sequence[float], flags: Backoffs) -> float:
    """As upstream reckons it (utils/backoff/exponential_backoff.go): each that follows another lasts twice as long.
    `began` are moments, oldest first.
    """
    length, before = flags.first_seconds, 0.0
    for at in began:
        if before and at - before > flags.forgotten_seconds:
            length = flags.first_seconds
        elif before and at > before + length:
            length = min(2 * length, flags.most_seconds)
        before = at
    return before + length


def written(at: float) -> str:
    """As decisions are dated."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
