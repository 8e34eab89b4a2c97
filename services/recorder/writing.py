"""Brings what was seen to the fleet bucket, and keeps it as long as that is away."""

import sys
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence

from evidence.observation import Observation
from fleet import records

from .book import Book
from .contact import Contact
from .errors import StoreError
from .metrics import parts_sent, unsent_bytes, written_until_seconds
from .parts import Part, Span, by_team, gap, part
from .settings import Settings
from .store import Store

# Even when nothing happens: so that readers know that nothing did.
QUIET_SECONDS = 600.0
# Packed: a day and more of a busy cluster.
MOST_UNSENT_BYTES = 64 * 2**20
FULL = "the bucket was away for so long that not all of it could be kept"


class Writing:
    """One thread calls it."""

    def __init__(
        self,
        book: Book,
        contact: Contact,
        store: Store,
        settings: Settings,
        replica: str,
        on_node: Callable[[str], Collection[str]],
        begun: float,
        most_unsent_bytes: int = MOST_UNSENT_BYTES,
    ) -> None:
        self.book, self.contact, self.store, self.settings = book, contact, store, settings
        self.replica, self.on_node, self.most = replica, on_node, most_unsent_bytes
        # Until when all is told, by team; of all teams and the rest under an empty name.
        self.told = dict.fromkeys(["", *settings.teams], begun)
        self.named = 0.0
        self.unsent: deque[Part] = deque()
        self.why = ""

    def step(self, now: float, *, last: bool = False) -> None:
        """Never raises for a bucket that is away: the next step goes on."""
        until, taken = self.contact.until(), self.book.take()
        seen = [*taken.seen]
        if taken.lost:
            seen.append(gap(Span(self.told[""], until), self.replica, "more happened than could be kept"))
        # Names tell whole seconds, and no part takes the place of another.
        at = max(now, self.named + 1)
        if made := [*self._parts(seen, until, at, last=last)]:
            self.named = at
            self._keep(made)
        self._send()

    def _parts(self, seen: Sequence[Observation], until: float, at: float, *, last: bool) -> Iterator[Part]:
        """Of each team where there is something new of it, or has been nothing for long."""
        cluster = self.settings.cluster
        for team, found in by_team(seen, self.settings.teams, self.on_node).items():
            span = Span(self.told[team], max(self.told[team], until))
            if found or last or span.until - span.since >= QUIET_SECONDS:
                self.told[team] = span.until
                key = records.part_key(records.folder(cluster, team), at, self.replica)
                yield part(found, span, key, self.replica)

    def _keep(self, made: Sequence[Part]) -> None:
        """What goes is the oldest: no part tells of its time then, which readers see."""
        self.unsent.extend(made)
        while sum(len(one.data) for one in self.unsent) > self.most and len(self.unsent) > 1:
            self.unsent.popleft()
            self._say(FULL)

    def _send(self) -> None:
        try:
            while self.unsent:
                self.store.put(self.unsent[0].key, self.unsent[0].data)
                self.unsent.popleft()
                parts_sent.inc()
        except StoreError as error:
            self._say(str(error))
        else:
            if self.why:
                self._say("")
        unsent_bytes.set(sum(len(one.data) for one in self.unsent))
        written_until_seconds.set(self.told[""])

    def _say(self, why: str) -> None:
        """Once for all tries with one answer."""
        if why != self.why:
            sys.stderr.write(f"recorder: {why or 'what had waited is in the bucket'}\n")
            sys.stderr.flush()
        self.why = why
