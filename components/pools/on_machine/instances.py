"""Which instances run in the pools' scaling groups: asked of EC2 rarely, and at once for one that is not known.

A thread a region asks; nobody else ever waits for AWS. What a region does not answer is not known, and nothing else.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from xml.etree.ElementTree import Element, ParseError

from join_rules import Instance, Unsure
from machine import Refused, say

PERIOD_SECONDS = 60.0
# What was seen is believed for so long; what was not found is asked for anew.
BELIEVED_SECONDS, ABSENT_SECONDS = 150.0, 5.0
# Machines come by the hundred: what is asked for within a moment goes in one question.
GATHER_SECONDS, MOST_VALUES, PAGE = 0.1, 200, 1000
GROUP = "aws:autoscaling:groupName"
ALIVE = ("pending", "running", "stopping", "stopped", "shutting-down")
Ask = Callable[..., Element]


def read(answer: Element) -> Iterator[Instance]:
    """Out of an answer to DescribeInstances."""
    for item in answer.iterfind("{*}reservationSet/{*}item/{*}instancesSet/{*}item"):
        tags = {tag.findtext("{*}key"): tag.findtext("{*}value") for tag in item.iterfind("{*}tagSet/{*}item")}
        yield Instance(
            id=item.findtext("{*}instanceId") or "",
            state=item.findtext("{*}instanceState/{*}name") or "",
            group=tags.get(GROUP) or "",
            address=item.findtext("{*}privateIpAddress") or "",
        )


def describe(ask: Ask, name: str, values: Iterable[str]) -> list[Instance]:
    """All instances that a filter finds. Raises OSError, Refused, ParseError."""
    values = sorted(values)
    found: list[Instance] = []
    for start in range(0, len(values), MOST_VALUES):
        some = {f"Filter__1__Value__{n}": value for n, value in enumerate(values[start : start + MOST_VALUES], 1)}
        token: dict[str, str] = {}
        while True:
            answer = ask("DescribeInstances", MaxResults=str(PAGE), Filter__1__Name=name, **some, **token)
            found += read(answer)
            if not (more := answer.findtext("{*}nextToken")):
                break
            token = {"NextToken": more}
    return found


class Region:
    """`known` are all that were ever seen alive; `missing` tells since when, and when last, one was not found."""

    def __init__(self, name: str, groups: Collection[str], ask: Ask) -> None:
        self.name, self.groups, self.ask = name, groups, ask
        self.answered: Callable[[], None] = lambda: None
        self.lock, self.wake = threading.Lock(), threading.Event()
        self.found: dict[str, tuple[Instance, float]] = {}
        self.missing: dict[str, tuple[float, float]] = {}
        self.known: set[str] = set()
        self.wanted: set[str] = set()
        # When the last listing was tried, and when one came.
        self.listed, self.told, self.problem = 0.0, -1e9, "it was not asked yet"

    def look(self, instance: str) -> Instance | Unsure | None:
        """None if EC2 has just said that there is none."""
        now = time.monotonic()
        with self.lock:
            one, seen = self.found.get(instance, (None, 0.0))
            if one and now - seen < (BELIEVED_SECONDS if one.state == "running" else ABSENT_SECONDS):
                return one
            if not one and now - self.missing.get(instance, (0.0, -1e9))[1] < ABSENT_SECONDS:
                return None
            self.wanted.add(instance)
            self.wake.set()
            return Unsure(f"{self.name} is asked for {instance}" + (f": {self.problem}" if self.problem else ""))

    def run(self) -> None:
        """For ever."""
        while True:
            self.wake.wait(max(0.0, self.listed + PERIOD_SECONDS - time.monotonic()) if self.listed else 0.0)
            if self.wake.is_set():
                time.sleep(GATHER_SECONDS)
            self.step()

    def step(self) -> None:
        """One round of questions."""
        with self.lock:
            wanted, self.wanted = self.wanted, set()
            self.wake.clear()
        due = time.monotonic() - self.listed >= PERIOD_SECONDS or not self.listed
        try:
            if wanted:
                self.learn(describe(self.ask, "instance-id", wanted), wanted)
                self.answered()
            if due:
                self.learn(describe(self.ask, f"tag:{GROUP}", self.groups), ())
                self.told = time.monotonic()
            problem = ""
        except (OSError, ParseError, Refused) as error:
            problem = str(error)[:300]
        if due:
            self.listed = time.monotonic()
        if problem and problem != self.problem:
            say(f"EC2 in {self.name} does not tell its instances: {problem}")
        self.problem = problem

    def learn(self, told: Collection[Instance], asked: Collection[str]) -> None:
        """What EC2 answered; of `asked` those that are not in it do not exist."""
        now = time.monotonic()
        with self.lock:
            alive = set()
            for one in told:
                if one.state in ALIVE:
                    alive.add(one.id)
                    self.missing.pop(one.id, None)
                self.found[one.id] = (one, now)
            self.known |= alive
            for instance in set(asked) - alive:
                first, _ = self.missing.get(instance, (now, now))
                self.missing[instance] = (first, now)
                if instance not in {one.id for one in told}:
                    self.found.pop(instance, None)
            self.found = {n: (i, at) for n, (i, at) in self.found.items() if now - at < 4 * BELIEVED_SECONDS}
            # What nobody asks about any more is forgotten.
            self.missing = {n: times for n, times in self.missing.items() if now - times[1] < 4 * BELIEVED_SECONDS}

    def gone(self, instance: str, seconds: float) -> bool:
        """Whether EC2 said in two answers, so far apart, that there is none; asks again for the next time."""
        now = time.monotonic()
        with self.lock:
            one, seen = self.found.get(instance, (None, 0.0))
            if now - self.told > BELIEVED_SECONDS or (one and one.state in ALIVE and now - seen < BELIEVED_SECONDS):
                return False
            self.wanted.add(instance)
            self.wake.set()
            first, last = self.missing.get(instance, (0.0, 0.0))
            return last - first >= seconds

    def forget(self, instance: str) -> None:
        with self.lock:
            self.known.discard(instance)


class Instances:
    """Of all regions."""

    def __init__(self, groups: Mapping[str, Collection[str]], ask: Callable[[str], Ask]) -> None:
        """`ask` gives a region's way to EC2."""
        self.regions = {name: Region(name, some, ask(name)) for name, some in groups.items()}

    def start(self, answered: Callable[[], None]) -> None:
        """`answered` is called when EC2 has told of those that were asked for."""
        for region in self.regions.values():
            region.answered = answered
            threading.Thread(target=region.run, daemon=True).start()

    def look(self, instance: str, regions: Collection[str]) -> Instance | Unsure | None:
        """In any of some regions. None only if each of them says so."""
        unsure: Unsure | None = None
        for name in sorted(regions):
            found = self.regions[name].look(instance)
            if isinstance(found, Instance):
                return found
            unsure = found or unsure
        return unsure
