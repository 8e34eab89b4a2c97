"""What measuring asks of machines, by the most nodes that a cluster may have: its size alone says how many could be.

Figures of series and samples are those of bench/monitoring.py, which has the real Prometheus ask machines that are
played.
"""

from math import ceil, log2
from typing import NamedTuple

from fleet.address import sizes

from ..spec import AddOnsSpec

# What is kept of a machine with eight GPUs, theirs and its own, each half minute.
SERIES, SECONDS = 600, 30


class Cost(NamedTuple):
    """Of one program: what it has with no machine at all, and what each series more takes."""

    always_mib: int
    series_bytes: int


# With it 5,000 nodes are 14.7 GiB.
PROMETHEUS = Cost(192, 5_200)


def nodes(spec: AddOnsSpec, place: str = "") -> int:
    """The most that there may be, in the whole cluster or in one place."""
    most = sum(pool.most for pool in spec.pools if place in ("", pool.place))
    return min(most, sizes.CLUSTERS[spec.fleet.clusters[spec.cluster.name].size].nodes)


def memory(cost: Cost, of: int) -> str:
    """To ask for, with so many nodes. Each step is twice the one before: a changed request replaces pods."""
    wanted_mib = cost.always_mib + of * SERIES * cost.series_bytes / 2**20
    return f"{2 ** ceil(log2(wanted_mib))}Mi"
