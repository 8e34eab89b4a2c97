"""Which networks resolve the names of which region's private zone: every network those of every region."""

from collections.abc import Iterable
from itertools import permutations
from typing import NamedTuple


class Resolves(NamedTuple):
    """The network of region `here` resolves the names of region `there`."""

    here: str
    there: str

    @property
    def name(self) -> str:
        return f"{self.there}-in-{self.here}"


def resolves(regions: Iterable[str]) -> list[Resolves]:
    """A region's own network knows its own zone from birth: that pair is left out."""
    return [Resolves(here, there) for here, there in permutations(sorted(regions), 2)]
