"""The keys of a cluster that is rebuilt, out of what its former region left elsewhere."""

from collections.abc import Callable, Mapping

import pulumi

from fleet.rebuilds import Origin

from .authority import Recovered
from .pki import Generations
from .rotation import wanted


def found(
    origin: Origin | None, generations: Mapping[str, Generations], read: Callable[[Origin], pulumi.Output[str]]
) -> Recovered | None:
    """None when nothing is to be taken from there: the cluster was born here, or all its keys have rotated since."""
    if origin is None or not wanted(origin, generations):
        return None
    return Recovered(read(origin), origin.generations)
