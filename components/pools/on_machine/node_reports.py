"""Brings findings to the API as the node itself: conditions of its own Node, and events about it.

Nothing is read but its own Node, once after a start of the machine: what stands there of an earlier one is cleared.
"""

import hashlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import NamedTuple

from kernel_lines import Finding
from kernel_rows import ALL, SOURCE, WELL
from machine import say

from kube_http import MERGE, STRATEGIC, Answer, Json, Kube

NODES, EVENTS = "/api/v1/nodes", "/api/v1/namespaces/default/events"
# Of one reason and subject there is one event, which is written once a minute at most.
EVENT_SECONDS = 60.0
# A link may go up and down ten times a second.
CONDITION_SECONDS = 5.0
FORGET_SECONDS = 1800.0
MOST_EVENTS, MOST_SUBJECTS = 256, 32
FIRST_PAUSE, MOST_PAUSE = 1.0, 300.0
# The API server takes 1024 bytes of an event's message, and 32 KiB of a condition's.
MESSAGE_SIGNS = 1000
# What will not be taken however often it is sent.
HOPELESS = {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.REQUEST_ENTITY_TOO_LARGE}


class Wrong(NamedTuple):
    """Of a condition's subject."""

    reason: str
    message: str
    at: float


@dataclass
class Told:
    """One reason of one subject; `due` is when it may be written, `written` how many of its `count` were.

    `key` is what its event's name is made of.
    """

    finding: Finding
    first: float
    last: float
    sequence: int
    key: str
    name: str = ""
    count: int = 1
    written: int = 0
    due: float = 0.0


@dataclass
class Reports:
    """What is to be said. `wrong` are conditions by name and subject, `changed` those that the API has not yet."""

    kube: Kube
    node: str
    wrong: dict[str, dict[str, Wrong]] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    events: dict[tuple[str, str], Told] = field(default_factory=dict)
    since: dict[str, float] = field(default_factory=dict)
    pause: float = 0.0
    resting_until: float = 0.0
    conditions_due: float = 0.0

    def take(self, one: Finding, at: float, sequence: int = 0) -> None:
        """`sequence` is its line's, 0 for what was seen otherwise."""
        if one.condition and not self._conditioned(one, at, sequence):
            return
        key = (one.reason, one.subject)
        if (told := self.events.get(key)) is not None:
            told.finding, told.last, told.count = one, max(told.last, at), told.count + 1
            told.sequence = told.sequence if told.count - 1 > told.written else sequence
        elif self._room():
            self.events[key] = Told(one, at, at, sequence, f"{one.reason} {one.subject} {sequence} {at:.0f}")
        else:
            say(f"too much to say at once, not reported: {one.message}")

    def _room(self) -> bool:
        """For one event more: what was written longest ago is forgotten first."""
        if len(self.events) >= MOST_EVENTS:
            written = [key for key, one in self.events.items() if one.count == one.written]
            if written:
                del self.events[min(written, key=lambda key: self.events[key].due)]
        return len(self.events) < MOST_EVENTS

    def _conditioned(self, one: Finding, at: float, sequence: int) -> bool:
        """Whether there is something to say: what was well and stays so is no news."""
        subjects = self.wrong.setdefault(one.condition, {})
        before = dict(subjects)
        if one.well:
            for subject in [*subjects] if one.subject == ALL else [one.subject]:
                subjects.pop(subject, None)
        elif len(subjects) < MOST_SUBJECTS:
            # The first says most: what the driver asks for comes after what has happened.
            subjects.setdefault(one.subject, Wrong(one.reason, one.message, at))
        if before != subjects:
            self.changed.setdefault(one.condition, sequence)
            if bool(before) != bool(subjects):
                self.since[one.condition] = at
        return not one.well or before != subjects

    def unsaid(self) -> Iterator[int]:
        """Sequence numbers of lines that the API does not know of yet."""
        yield from (one for one in self.changed.values() if one)
        yield from (one.sequence for one in self.events.values() if one.count > one.written and one.sequence)

    def next(self) -> float:
        """When there is something to write, as monotonic time; far away where nothing is."""
        dues = [one.due for one in self.events.values() if one.count > one.written]
        dues += [self.conditions_due] if self.changed else []
        return max(min(dues), self.resting_until) if dues else float("inf")

    def flush(self) -> bool:
        """Writes what is due; whether anything was written. After a failure it rests, each time longer."""
        now = time.monotonic()
        if now < self.next():
            return False
        try:
            if self.changed and now >= self.conditions_due:
                self._write_conditions()
                self.conditions_due = now + CONDITION_SECONDS
            for told in [one for one in self.events.values() if one.count > one.written and one.due <= now]:
                self._write_event(told)
                told.due = now + EVENT_SECONDS
        except (Answer, OSError) as error:
            self.rest(error)
            return False
        self.pause = 0.0
        # Nothing that waits is forgotten.
        self.events = {
            key: one for key, one in self.events.items() if one.count > one.written or now - one.due < FORGET_SECONDS
        }
        return True

    def rest(self, error: Exception) -> None:
        self.pause = min(2 * self.pause or FIRST_PAUSE, MOST_PAUSE)
        self.resting_until = time.monotonic() + self.pause
        say(f"not reported yet, again in {self.pause:g} s: {error}")

    def _write_conditions(self) -> None:
        made = [condition(name, self.wrong.get(name, {}), self.since.get(name, time.time())) for name in self.changed]
        self.kube.ask("PATCH", f"{NODES}/{self.node}/status", {"status": {"conditions": made}}, STRATEGIC)
        for one in made:
            say(f"{one['type']} is {one['status']}: {one['message']}")
        self.changed = {}

    def _write_event(self, told: Told) -> None:
        count = told.count
        try:
            if told.name:
                self._again(told, count)
            if not told.name:
                told.name = self.kube.ask("POST", EVENTS, event(self.node, told))["metadata"]["name"]
        except Answer as answer:
            if answer.status not in HOPELESS:
                # It was made, and the answer was lost.
                if answer.status != HTTPStatus.CONFLICT:
                    raise
                told.name = name_of(self.node, told)
            say(f"{told.finding.message}: {answer}")
        told.written = count
        say(f"{told.finding.reason}: {told.finding.message}")

    def _again(self, told: Told, count: int) -> None:
        """Events go after an hour: then there is another one."""
        patch = {"count": count, "lastTimestamp": stamp(told.last), "message": told.finding.message[:MESSAGE_SIGNS]}
        try:
            self.kube.ask("PATCH", f"{EVENTS}/{told.name}", patch, MERGE)
        except Answer as answer:
            if answer.status != HTTPStatus.NOT_FOUND:
                raise
            told.first, told.name, told.key = told.last, "", f"{told.key} {told.last:.0f}"

    def begin(self) -> None:
        """Clears what an earlier start of the machine left in its Node, unless it is so again.

        Raises Answer, OSError.
        """
        found = self.kube.ask("GET", f"{NODES}/{self.node}")
        for one in (found.get("status") or {}).get("conditions") or []:
            if one["type"] in WELL and one["status"] == "True" and not self.wrong.get(one["type"]):
                self.changed.setdefault(one["type"], 0)
                self.since[one["type"]] = time.time()


def condition(name: str, wrong: Mapping[str, Wrong], since: float) -> Json:
    reason, message = WELL[name]
    if wrong:
        first = min(wrong.values(), key=lambda one: one.at)
        reason, message = first.reason, "; ".join(one.message for one in wrong.values())
    return {
        "type": name,
        "status": "True" if wrong else "False",
        "reason": reason,
        "message": message[:MESSAGE_SIGNS],
        "lastTransitionTime": stamp(since),
        "lastHeartbeatTime": stamp(time.time()),
    }


def name_of(node: str, told: Told) -> str:
    """The same for the same finding: what was written and not answered is not written twice."""
    return f"{node}.{hashlib.sha256(told.key.encode()).hexdigest()[:16]}"


def event(node: str, told: Told) -> Json:
    one = told.finding
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name_of(node, told), "namespace": "default"},
        # As kubelets name their nodes.
        "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": node, "uid": node},
        "reason": one.reason,
        "message": one.message[:MESSAGE_SIGNS],
        "type": "Normal" if one.well else "Warning",
        "source": {"component": SOURCE, "host": node},
        "firstTimestamp": stamp(told.first),
        "lastTimestamp": stamp(told.last),
        "count": told.count,
    }


def stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
