"""What was seen as parts of the fleet bucket: one of all, and one of each team's own. Pure."""

import gzip
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from evidence.observation import Observation, written
from evidence.record import GAP, WATCHED
from fleet.team_storage import namespace


class Part(NamedTuple):
    key: str
    data: bytes


class Span(NamedTuple):
    """Seconds of the epoch."""

    since: float
    until: float


def by_team(
    seen: Collection[Observation], teams: Iterable[str], on_node: Callable[[str], Collection[str]]
) -> dict[str, list[Observation]]:
    """All of it, under an empty name, and what is each team's. `on_node` are namespaces of pods that are on a node, or
    were lately.
    """
    spaces = {namespace(team): team for team in teams}
    found: dict[str, list[Observation]] = {"": [*seen], **{team: [] for team in spaces.values()}}
    for one in seen:
        for team in _teams(one, spaces, on_node):
            found[team].append(one)
    return found


def part(seen: Collection[Observation], span: Span, key: str, replica: str) -> Part:
    return Part(key, packed([watched(span, replica), *sorted(seen, key=lambda one: one.at)]))


def watched(span: Span, replica: str) -> Observation:
    facts = {"since": written(span.since), "until": written(span.until)}
    return Observation(span.until, "recorder", f"recorder/{replica}", WATCHED, "", facts=facts)


def gap(span: Span, replica: str, text: str) -> Observation:
    facts = {"since": written(span.since), "until": written(span.until)}
    return Observation(span.until, "recorder", f"recorder/{replica}", GAP, text, facts=facts)


def packed(seen: Iterable[Observation]) -> bytes:
    text = "".join(f"{one.line()}\n" for one in seen)
    return gzip.compress(text.encode(), mtime=0)


def _teams(one: Observation, spaces: Mapping[str, str], on_node: Callable[[str], Collection[str]]) -> list[str]:
    kind, _, rest = one.about.partition("/")
    if kind == "recorder":
        return [*spaces.values()]
    found = on_node(rest) if kind == "node" else [rest.partition("/")[0]]
    return sorted({spaces[space] for space in found if space in spaces})
