"""What of each pack a tree needs, and in which pieces to ask for it."""

from collections.abc import Iterator
from typing import NamedTuple

from fleet.team_code import MIB, File, Tree

# To ask once more costs some 30 ms, in which a pod gets about as much.
GAP_BYTES = MIB


class Segment(NamedTuple):
    """Bytes of a pack, and where in a file they go."""

    pack: str
    offset_bytes: int
    size_bytes: int
    file: File
    at_bytes: int

    @property
    def end(self) -> int:
        return self.offset_bytes + self.size_bytes


class Reading(NamedTuple):
    """One answer's: its segments follow each other, with gaps perhaps."""

    start: int
    end: int
    segments: list[Segment]


def originals(tree: Tree) -> dict[tuple[object, ...], File]:
    """One file of each content, of those that have the same in the same place. The others are copies of it."""
    found: dict[tuple[object, ...], File] = {}
    for one in tree.files:
        found.setdefault((one.sha256, one.parts), one)
    return found


def readings(tree: Tree) -> dict[str, list[Reading]]:
    """By pack. One whole answer where most of a pack is needed, else ranges."""
    segments: dict[str, list[Segment]] = {pack: [] for pack in tree.packs}
    for file in originals(tree).values():
        at = 0
        for part in file.parts:
            segments[part.pack].append(Segment(part.pack, part.offset_bytes, part.size_bytes, file, at))
            at += part.size_bytes
    made = {}
    for pack, found in segments.items():
        most = sum(one.size_bytes for one in found) * 2 >= tree.packs[pack]
        made[pack] = list(_joined(sorted(found, key=lambda one: one.offset_bytes), most))
    return made


def _joined(segments: list[Segment], most: bool) -> Iterator[Reading]:  # noqa: FBT001
    """Packs of ours have no bytes of two contents; where a tree says so all the same, they are asked for twice."""
    now: list[Segment] = []
    for one in segments:
        gap = one.offset_bytes - now[-1].end if now else 0
        if now and (gap < 0 or (gap > GAP_BYTES and not most)):
            yield Reading(now[0].offset_bytes, now[-1].end, now)
            now = []
        now.append(one)
    if now:
        yield Reading(now[0].offset_bytes, now[-1].end, now)
