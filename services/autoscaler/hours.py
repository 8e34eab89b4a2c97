"""An hour of decisions and of pods that waited, as it is kept in a ConfigMap of its own for a day: pure.

A burst's pods wait alike: what is common to them is written once, and of each only its name and from when to when. Why
they wait changes from minute to minute, for all of them at once: that is a list of its own beside the names.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from .causes import Cause

# A day, the hour that has begun and one to spare: each has a place, and takes that of the one so many before.
PLACES = 26
HOUR_SECONDS = 3600
FILE = "notes.json.gz"
# Which of a day's ConfigMaps it is; the command line finds them by it.
LABEL, VALUE = "landbridge.dev/kept", "autoscaler-history"
# etcd takes no larger object than 1.5 MB, and the API no larger ConfigMap than 1 MiB.
LARGEST_BYTES = 900_000
MOST_DECISIONS = 5000
# Two looks at one pod that lie further apart are two waits.
APART_SECONDS = 300


class Waiting(NamedTuple):
    """A pod that was seen without a node. `message` has the scheduler's words. Pods of one `shape`, namespace and owner
    have the same causes.
    """

    namespace: str
    name: str
    owner: str
    shape: str
    requests: Mapping[str, str]
    selector: Mapping[str, str]
    message: str
    causes: Sequence[Cause]

    @property
    def key(self) -> str:
        """Of those that wait alike."""
        text = json.dumps([self.namespace, self.owner, self.shape])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass
class Hour:
    """`number` is that of the epoch, `posted` are keys of what owners were told. Values are as JSON has them."""

    number: int
    decisions: list[dict[str, Any]] = field(default_factory=list)
    waits: dict[str, dict[str, Any]] = field(default_factory=dict)
    posted: list[str] = field(default_factory=list)

    @property
    def place(self) -> int:
        return self.number % PLACES

    def decide(self, decisions: Sequence[dict[str, Any]]) -> bool:
        """Whether any is new."""
        known = {json.dumps(one, sort_keys=True) for one in self.decisions}
        new = [one for one in decisions if json.dumps(one, sort_keys=True) not in known]
        before, every = self.decisions, [*self.decisions, *new]
        self.decisions = sorted(every, key=lambda one: str(one["at"]))[-MOST_DECISIONS:]
        return self.decisions != before

    def see(self, pods: Sequence[Waiting], now: float) -> bool:
        """Whether one waits otherwise than it did before, or is new."""
        new, at = False, int(now)
        done: set[str] = set()
        for pod in pods:
            key = pod.key
            wait = self.waits.get(key)
            if wait is None or at - wait["to"] > APART_SECONDS:
                wait = self._begun(key, pod, at)
            if key not in done:
                done.add(key)
                wait["to"] = at
                new = _timed(wait["times"], pod, at) or new
            new = new or pod.name not in wait["pods"]
            wait["pods"].setdefault(pod.name, [at, at])[1] = at
        return new

    def _begun(self, key: str, pod: Waiting, at: int) -> dict[str, Any]:
        if before := self.waits.pop(key, None):
            # Under its moment: the same key is free for the one that begins.
            self.waits[f"{key}-{before['from']}"] = before
        wait: dict[str, Any] = {"from": at, "to": at, "pods": {}, "times": []}
        wait |= {name: getattr(pod, name) for name in ("namespace", "owner", "requests", "selector")}
        self.waits[key] = wait
        return wait


def _timed(times: list[dict[str, Any]], pod: Waiting, at: int) -> bool:
    """Whether the causes are others than they were; numbers in sentences may differ."""
    codes = [(one.code, one.group) for one in pod.causes]
    last = times[-1] if times else {"causes": None}
    same = last["causes"] is not None and codes == [(one["code"], one.get("group", "")) for one in last["causes"]]
    if not same:
        times.append({"from": at})
    times[-1] |= {"to": at, "said": pod.message, "causes": [_plain(one) for one in pod.causes]}
    return not same


def _plain(cause: Cause) -> dict[str, Any]:
    return {name: value for name, value in cause._asdict().items() if value}


def number(now: float) -> int:
    return int(now) // HOUR_SECONDS


def encoded(hour: Hour) -> dict[str, str]:
    """A ConfigMap's binaryData. What is too large loses what it has of the oldest waits."""
    while True:
        text = json.dumps(asdict(hour), separators=(",", ":"))
        content = gzip.compress(text.encode(), 6, mtime=0)
        if len(content) <= LARGEST_BYTES or not hour.waits:
            return {FILE: base64.b64encode(content).decode()}
        oldest = sorted(hour.waits, key=lambda key: int(hour.waits[key]["to"]))
        for key in oldest[: len(oldest) // 4 + 1]:
            del hour.waits[key]


def decoded(data: Mapping[str, str]) -> Hour:
    """Raises ValueError for what is none."""
    try:
        return Hour(**json.loads(gzip.decompress(base64.b64decode(data[FILE]))))
    except (KeyError, TypeError, OSError, EOFError, ValueError) as error:
        raise ValueError(f"{FILE}: {error}") from None
