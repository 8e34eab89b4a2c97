"""Which new contents go into which packs, and which packs a tree should leave."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from fleet.team_code import MIB, PACK_BYTES, Part

from .folder import Source

# So many at once: a link to a cloud is not full with one, and people see how far it is.
PACKS_AT_FIRST, LEAST_PACK_BYTES = 16, 4 * MIB
# A pod asks for each pack by itself, and a launch asks whether each is there: some 30 ms for eight of them.
MOST_PACKS = 64


class Piece(NamedTuple):
    """Bytes of a file that go into a pack."""

    source: Source
    offset_bytes: int
    size_bytes: int


def packed(new: Iterable[Source]) -> list[list[Piece]]:
    """The same packs for the same files, in order of path: what two people launch first is the same in the bucket."""
    ordered = sorted(new, key=lambda one: one.path)
    whole = sum(one.size_bytes for one in ordered)
    wanted = min(PACK_BYTES, max(LEAST_PACK_BYTES, -(-whole // PACKS_AT_FIRST)))
    packs: list[list[Piece]] = []
    filled = wanted
    for piece in (piece for one in ordered for piece in _pieces(one)):
        if filled + piece.size_bytes > wanted:
            packs.append([])
            filled = 0
        packs[-1].append(piece)
        filled += piece.size_bytes
    return packs


def to_keep(placed: Mapping[str, tuple[Part, ...]], new_packs: int) -> set[str]:
    """Packs that a tree goes on using; `placed` are its contents that lie in some, by digest.

    All of them, as long as they are few. Each launch with a change adds one; when they are too many, what lies in small
    ones is sent once more, together. Those with a good share of the tree stay, else a launch in sixty would send all.
    """
    used: Counter[str] = Counter()
    for parts in placed.values():
        for part in parts:
            used[part.pack] += part.size_bytes
    whole = used.total()
    # A tree above its usual limit needs more of full ones.
    if len(used) + new_packs <= max(MOST_PACKS, MOST_PACKS // 2 + 2 * -(-whole // PACK_BYTES)):
        return set(used)
    share = min(PACK_BYTES // 2, 2 * whole // MOST_PACKS)
    return {pack for pack, size in used.items() if size >= share}


def _pieces(source: Source) -> Iterator[Piece]:
    for offset in range(0, source.size_bytes, PACK_BYTES):
        yield Piece(source, offset, min(PACK_BYTES, source.size_bytes - offset))
