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
    """Of one program: what it has with no machine at all, and what each series and each sample more takes."""

    always_mib: int
    series_bytes: int
    sample_cpu_microseconds: float


PROMETHEUS = Cost(192, 5_100, 3.0)


def nodes(spec: AddOnsSpec, place: str = "") -> int:
    """The most that there may be, in the whole cluster or in one place."""
    most = sum(pool.most for pool in spec.pools if place in ("", pool.place))
    return min(most, sizes.CLUSTERS[spec.fleet.clusters[spec.cluster.name].size].nodes)


def asked(cost: Cost, of: int) -> tuple[str, str]:
    """Cores and memory for so many nodes. Each step is twice the one before: a changed request replaces pods."""
    series = of * SERIES
    millicores = 1000 * series / SECONDS * cost.sample_cpu_microseconds / 1e6
    memory_mib = cost.always_mib + series * cost.series_bytes / 2**20
    return f"{_step(millicores, 50)}m", f"{_step(memory_mib, 64)}Mi"


def _step(wanted: float, least: int) -> int:
    return int(least * 2 ** max(0, ceil(log2(wanted / least)))) if wanted > least else least
