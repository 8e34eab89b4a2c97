"""What clouds say of machines whose nodes fell silent or went."""

import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple, Protocol

from evidence.observation import Json, Observation

from .aws.machines import Region
from .azure.machines import Group
from .book import Book
from .errors import CloudError

# As a node names its machine: a zone, whose last letter is its own, or an id with its resource group.
MACHINES = (
    re.compile(r"aws:///(?P<place>[^/]+)[a-z]/(?P<name>[^/]+)"),
    re.compile(r"azure://(?P<name>(?P<place>/subscriptions/[^/]+/resourceGroups/[^/]+)/.+)", re.IGNORECASE),
)
# A node may be silent though its machine runs, and Azure tells late; whether that ends, too, is asked for so long.
ASKED_SECONDS = 1800.0
SILENT = ("node-silent", "out-of-service", "machine-stopped")


class Asks(Protocol):
    def ask(self, nodes: Mapping[str, str], now: float) -> tuple[list[Observation], set[str]]:
        """Raises CloudError."""


class Wanted(NamedTuple):
    place: str
    node: str
    since: float


def asks(place: str) -> Asks:
    return Group(place) if place.startswith("/") else Region(place)


class Machines:
    """The threads of nodes call `node` and `left`, another one `step`. `places` are regions of AWS and resource groups
    of Azure; nobody is asked of others.
    """

    def __init__(
        self,
        book: Book,
        places: Collection[str],
        opened: Callable[[str], Asks] = asks,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.book, self.opened, self.now = book, opened, now
        self.places = {place.lower(): place for place in places}
        self.lock = threading.Lock()
        self.wanted: dict[str, Wanted] = {}
        self.clouds: dict[str, Asks] = {}

    def node(self, node: Json, fresh: list[Observation]) -> None:
        if any(one.code in SILENT for one in fresh):
            self.left(node)

    def left(self, node: Json) -> None:
        name = str(node["spec"].get("providerID") or "")
        found = next((match for one in MACHINES if (match := one.fullmatch(name))), None)
        if found and (place := self.places.get(found["place"].lower())):
            with self.lock:
                self.wanted[found["name"]] = Wanted(place, str(node["metadata"]["name"]), self.now())

    def step(self, now: float) -> None:
        """Raises CloudError, after all places were asked."""
        with self.lock:
            wanted = {name: one for name, one in self.wanted.items() if now - one.since < ASKED_SECONDS}
            self.wanted = dict(wanted)
        nodes: dict[str, dict[str, str]] = defaultdict(dict)
        for name, one in wanted.items():
            nodes[one.place][name] = one.node
        problems = []
        for place, mine in nodes.items():
            try:
                self._ask(place, mine, now)
            except CloudError as error:
                problems.append(str(error))
        if problems:
            raise CloudError("; ".join(problems))

    def _ask(self, place: str, nodes: Mapping[str, str], now: float) -> None:
        if place not in self.clouds:
            self.clouds[place] = self.opened(place)
        seen, done = self.clouds[place].ask(nodes, now)
        for one in seen:
            self.book.add(one, urgent=True)
        with self.lock:
            for name in done:
                self.wanted.pop(name, None)
