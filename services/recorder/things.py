"""Objects of one kind, as they come and go: what each shows goes into the book once, and what it was at last."""

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from evidence.causes import waiting
from evidence.observation import Json, Observation, read_line
from evidence.record import GONE, gone, record

from .book import Book
from .seeing import Kind

# What keeps a pod waiting is told in new words again and again.
WAITS_SECONDS = 600.0
# A pod's.
MOST_SAID = 64
# Of what went while nobody could see it.
UNSEEN = "it was not there any more when the API server answered again"
SEEN = "its object was deleted"


class Live(NamedTuple):
    """`kept` is what would be said of it if it were gone now, a line of it: objects of Python are ten times as large.

    `said` is what has been said, as words and moment, by what it is.
    """

    kept: bytes
    said: dict[tuple[Any, ...], tuple[int, float]]


class Things:
    """One thread calls it. `about` adds to an object's record what others know; `also` is told of each
    object with what is new of it, `left` of each that is gone, `unseen` of each that went while nobody watched.
    """

    def __init__(
        self,
        kind: Kind,
        book: Book,
        about: Callable[[Json], Mapping[str, Any]] = lambda _: {},
        also: Callable[[Json, list[Observation]], None] = lambda *_: None,
        left: Callable[[Json], None] = lambda _: None,
        unseen: Callable[[Json], None] = lambda _: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.kind, self.book, self.about, self.also = kind, book, about, also
        self.left, self.unseen, self.now = left, unseen, now
        self.live: dict[str, Live] = {}

    def listed(self, found: list[str]) -> None:
        """Of all that were listed just now the uids: see `keep`."""
        there = set(found)
        for uid in [one for one in self.live if one not in there]:
            self.unseen(self._gone(uid, UNSEEN))

    def keep(self, thing: Json) -> str:
        """Of each that is listed; its uid."""
        self._see(thing)
        return str(thing["metadata"]["uid"])

    def changed(self, change: str, thing: Json) -> None:
        self._see(thing)
        if change == "DELETED":
            self._gone(str(thing["metadata"]["uid"]), SEEN)

    def _see(self, thing: Json) -> None:
        now, uid = self.now(), str(thing["metadata"]["uid"])
        before = self.live.get(uid)
        said = before.said if before else {}
        kept = record(thing, self.kind.name, now, **self.about(thing))
        self.live[uid] = Live(kept.line().encode(), said)
        seen = self.kind.of(thing)
        fresh = [one for one in (_dated(one, now) for one in seen) if _news(one, said, now)]
        for one in fresh:
            self.book.add(one, (uid, *_what(one)))
        if fresh:
            self.book.add(kept, (uid, kept.code), urgent=any(one.code not in waiting() for one in fresh))
        self.also(thing, fresh)

    def _gone(self, uid: str, text: str) -> Json:
        kept, now = read_line(self.live.pop(uid).kept), self.now()
        thing: Json = kept.facts["object"]
        self.book.add(kept._replace(at=now), (uid, kept.code))
        self.book.add(gone(thing, self.kind.name, now, text), (uid, GONE), urgent=True)
        self.left(thing)
        return thing


def _dated(one: Observation, now: float) -> Observation:
    """What has no time of its own has that at which it was seen."""
    return one if one.at else one._replace(at=now)


def _what(one: Observation) -> tuple[Any, ...]:
    """What it is, whichever words tell it."""
    facts = (one.facts.get("container"), one.facts.get("exit_code"), one.facts.get("restarts"))
    return (one.code, round(one.at) if one.code not in waiting() else 0, *facts)


def _news(one: Observation, said: dict[tuple[Any, ...], tuple[int, float]], now: float) -> bool:
    """Whether it was not said before, or in other words; of what waits, every ten minutes."""
    what, words = _what(one), hash(one.text)
    text, at = said.get(what, (None, 0.0))
    if text == words or (text is not None and one.code in waiting() and now - at < WAITS_SECONDS):
        return False
    said[what] = (words, now)
    if len(said) > MOST_SAID:
        # Of a container that is started again and again.
        del said[next(iter(said))]
    return True
