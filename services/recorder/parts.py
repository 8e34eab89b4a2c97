"""What was seen as parts of the fleet bucket: one of all, and one of each team's own. Pure."""

import gzip
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from evidence.observation import Observation, written
from fleet import records
from fleet.team_storage import namespace

# Of which time a part tells all; and of which nothing is known.
WATCHED, GAP = "watched", "gap"


class Part(NamedTuple):
    key: str
    data: bytes


class Span(NamedTuple):
    """Seconds of the epoch."""

    since: float
    until: float


def parts(
    seen: Collection[Observation],
    span: Span,
    at: float,
    cluster: str,
    replica: str,
    teams: Iterable[str],
    on_node: Callable[[str], Collection[str]],
) -> list[Part]:
    """`at` is their name's moment. `on_node` are namespaces of pods that are on a node, or were lately."""
    spaces = {namespace(team): team for team in teams}
    of_team: dict[str, list[Observation]] = {team: [] for team in spaces.values()}
    for one in seen:
        for team in _teams(one, spaces, on_node):
            of_team[team].append(one)
    every = [("", [*seen]), *of_team.items()]
    return [
        Part(
            records.part_key(records.folder(cluster, team), at, replica),
            packed([watched(span, replica), *sorted(found, key=lambda one: one.at)]),
        )
        for team, found in every
    ]


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
