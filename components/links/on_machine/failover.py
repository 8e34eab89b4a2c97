"""Which tunnels a gateway leaves for a while, and when it takes them again. Pure.

A tunnel's path can die without a word; BGP believes in it until its hold timer ends, half a minute later. Who watches
what comes out of a tunnel knows after seconds.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

# Four questions without an answer, or anything else that comes.
SILENT_SECONDS = 2.0
# A tunnel that was left has to answer for so long without a pause, and twice as long each time that it was taken too
# soon; after a time without trouble all is forgotten.
STEADY_SECONDS, MOST_STEADY_SECONDS, FORGIVEN_SECONDS = 30.0, 600.0, 1800.0
# By then AWS's BGP, which holds for 30 s, has forgotten a silent tunnel: the whole block tells enough, and its halves
# are free for the next failure. Azure holds longer.
DRAW_SECONDS = 40.0


class Path(NamedTuple):
    """A tunnel as it is now: when something last came out of it, if ever, and whether BGP believes in it.

    The silence of an end that does not answer questions at all says nothing.
    """

    name: str
    region: str
    heard: float | None
    believed: bool
    draw_seconds: float = DRAW_SECONDS
    answers: bool = True

    def speaks(self, now: float) -> bool:
        return not self.answers or (self.heard is not None and now - self.heard < SILENT_SECONDS)


class Left(NamedTuple):
    """A tunnel that traffic was led off, at `since`. `steady` is since when it has answered without a pause."""

    wait_seconds: float
    steady: float | None = None
    since: float = 0.0


class Memory(NamedTuple):
    """`left` by the tunnel's name. `waits` are how long each had to answer when it was last taken again, and when."""

    left: Mapping[str, Left]
    waits: Mapping[str, tuple[float, float]]


NOTHING = Memory({}, {})


def reached(paths: Sequence[Path], memory: Memory, now: float) -> frozenset[str]:
    """The regions that have a tunnel which carries."""
    return frozenset(path.region for path in paths if _carries(path, memory.left, now))


def drawn(paths: Sequence[Path], memory: Memory, now: float) -> frozenset[str]:
    """The regions whose other tunnels have to draw the traffic of one that was left just now."""
    since = {name: left.since for name, left in memory.left.items()}
    return frozenset(one.region for one in paths if one.name in since and now - since[one.name] < one.draw_seconds)


def step(paths: Sequence[Path], memory: Memory, now: float) -> Memory:
    """After a look at all of the gateway's tunnels. Traffic is led from one tunnel to another of the same region."""
    left, waits = dict(memory.left), dict(memory.waits)
    for region in {path.region for path in paths}:
        group = [path for path in paths if path.region == region]
        _take_again(group, left, waits, now)
        _leave(group, left, waits, now)
    return Memory(left, waits)


def _carries(path: Path, left: Mapping[str, Left], now: float) -> bool:
    return path.name not in left and path.believed and path.speaks(now)


def _take_again(
    group: Sequence[Path], left: dict[str, Left], waits: dict[str, tuple[float, float]], now: float
) -> None:
    # Nothing carries: what was left may do it, or BGP is to find out by itself.
    desperate = not any(_carries(path, left, now) for path in group)
    for path in group:
        if (was := left.get(path.name)) is None:
            continue
        steady = (now if was.steady is None else was.steady) if path.speaks(now) else None
        left[path.name] = was._replace(steady=steady)
        if desperate or (steady is not None and now - steady >= was.wait_seconds):
            waits[path.name] = (was.wait_seconds, now)
            del left[path.name]


def _leave(group: Sequence[Path], left: dict[str, Left], waits: Mapping[str, tuple[float, float]], now: float) -> None:
    """Never the last one that carries. One that has never answered is none that has fallen silent."""
    if not any(_carries(path, left, now) for path in group):
        return
    for path in group:
        if path.name not in left and path.believed and path.heard is not None and not path.speaks(now):
            left[path.name] = Left(_wait(waits.get(path.name), now), since=now)


def _wait(before: tuple[float, float] | None, now: float) -> float:
    if before is None or now - before[1] > FORGIVEN_SECONDS:
        return STEADY_SECONDS
    return min(2 * before[0], MOST_STEADY_SECONDS)
