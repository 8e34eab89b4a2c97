"""What is known to lie in a team's packs, in one bucket. It only saves sending: packs are asked after before use."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from fleet.team_code import DIGEST, PACK_BYTES, Part, digest

from . import private_files

VERSION = 1
# Some 15 MB as JSON. Those that have not been used for longest are forgotten first.
MOST_CONTENTS = 100_000


class KnownPacks:
    """Of one team in one bucket; `cache` is the user's folder."""

    def __init__(self, cache: Path, bucket: str, team: str) -> None:
        self.file = cache / f"packs-{digest(f'{bucket}/{team}'.encode())[:16]}.json"
        found = private_files.read(self.file)
        right = found.get("version") == VERSION
        self._packs: dict[str, int] = dict(found.get("packs", {})) if right else {}
        self._contents: dict[str, list[list[str | int]]] = dict(found.get("contents", {})) if right else {}

    def parts(self, sha256: str) -> tuple[Part, ...]:
        """Where a content lies; empty if that is not known."""
        try:
            found = tuple(Part(str(pack), int(offset), int(size)) for pack, offset, size in self._contents[sha256])
        except (KeyError, TypeError, ValueError):
            return ()
        return found if all(self._fits(part) for part in found) else ()

    def size_bytes(self, pack: str) -> int:
        """Of a pack that parts lie in."""
        return self._packs[pack]

    def add(self, packs: Mapping[str, int], contents: Mapping[str, Iterable[Part]]) -> None:
        self._packs |= packs
        for sha256, parts in contents.items():
            self._contents.pop(sha256, None)
            self._contents[sha256] = [[part.pack, part.offset_bytes, part.size_bytes] for part in parts]

    def forget(self, pack: str) -> None:
        """It is not there any more. What lay in it is not known then, as `parts` has it."""
        self._packs.pop(pack, None)

    def save(self) -> None:
        known = [sha256 for sha256 in self._contents if self.parts(sha256)]
        kept = {sha256: self._contents[sha256] for sha256 in known[-MOST_CONTENTS:]}
        used = {part[0] for parts in kept.values() for part in parts}
        packs = {pack: size for pack, size in self._packs.items() if pack in used}
        private_files.write(self.file, {"version": VERSION, "packs": packs, "contents": kept})

    def _fits(self, part: Part) -> bool:
        size = self._packs.get(part.pack)
        if not isinstance(size, int) or not DIGEST.fullmatch(part.pack) or size > PACK_BYTES:
            return False
        return part.offset_bytes >= 0 and part.size_bytes > 0 and part.offset_bytes + part.size_bytes <= size
