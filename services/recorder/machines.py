"""What clouds say of machines whose nodes fell silent or went."""

import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple, Protocol

from evidence.observation import Json, Observation

from .aws.machines import Region
from .book import Book
from .errors import CloudError

# As a node names its machine; the zone's last letter is its own.
AWS = re.compile(r"aws:///([^/]+)[a-z]/([^/]+)")
# A node may be silent though its machine runs; whether that ends, too, is asked for so long.
ASKED_SECONDS = 900.0
SILENT = ("node-silent", "out-of-service", "machine-stopped")


class Asks(Protocol):
    def ask(self, nodes: Mapping[str, str], now: float) -> tuple[list[Observation], set[str]]:
        """Raises CloudError."""


class Wanted(NamedTuple):
    region: str
    node: str
    since: float


class Machines:
    """The threads of nodes call `node` and `left`, another one `step`. Nobody is asked of other regions."""

    def __init__(
        self,
        book: Book,
        regions: Collection[str],
        opened: Callable[[str], Asks] = Region,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.book, self.regions, self.opened, self.now = book, regions, opened, now
        self.lock = threading.Lock()
        self.wanted: dict[str, Wanted] = {}
        self.clouds: dict[str, Asks] = {}

    def node(self, node: Json, fresh: list[Observation]) -> None:
        if any(one.code in SILENT for one in fresh):
            self.left(node)

    def left(self, node: Json) -> None:
        found = AWS.fullmatch(str(node["spec"].get("providerID") or ""))
        if found and found[1] in self.regions:
            with self.lock:
                self.wanted[found[2]] = Wanted(found[1], str(node["metadata"]["name"]), self.now())

    def step(self, now: float) -> None:
        """Raises CloudError, after all regions were asked."""
        with self.lock:
            wanted = {name: one for name, one in self.wanted.items() if now - one.since < ASKED_SECONDS}
            self.wanted = dict(wanted)
        nodes: dict[str, dict[str, str]] = defaultdict(dict)
        for name, one in wanted.items():
            nodes[one.region][name] = one.node
        problems = []
        for region, mine in nodes.items():
            try:
                self._ask(region, mine, now)
            except CloudError as error:
                problems.append(str(error))
        if problems:
            raise CloudError("; ".join(problems))

    def _ask(self, region: str, nodes: Mapping[str, str], now: float) -> None:
        if region not in self.clouds:
            self.clouds[region] = self.opened(region)
        seen, done = self.clouds[region].ask(nodes, now)
        for one in seen:
            self.book.add(one, urgent=True)
        with self.lock:
            for name in done:
                self.wanted.pop(name, None)
