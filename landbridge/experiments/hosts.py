"""How many hosts a run has, and with how many GPUs each. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from components.pools.spec import PoolSpec
from landbridge.errors import UsageError

from .spec import Given


class Hosts(NamedTuple):
    """Like hosts; `gpus` are each one's."""

    number: int
    gpus: int

    @property
    def total(self) -> int:
        return self.number * self.gpus


def hosts(given: Given, pools: Mapping[str, PoolSpec]) -> Hosts:
    """`pools` are those of the cluster that have GPUs. Raises UsageError."""
    wanted, each = given.run.gpus, given.run.gpus_per_host
    sizes = sorted({pool.hardware.gpus for pool in pools.values()})
    if not sizes:
        raise UsageError(f"{given.at('gpus')}: no pool of the cluster has GPUs. Add one to the fleet file.")
    if each is not None and each > sizes[-1]:
        raise UsageError(f"{given.at('gpus_per_host')}: {each} GPUs a host, and the largest machines have {sizes[-1]}.")
    size = each or min(wanted, sizes[-1])
    if wanted % size:
        more, less = (wanted // size + 1) * size, wanted // size * size
        raise UsageError(
            f"{given.at('gpus')}: {wanted} GPUs don't make whole hosts of {size}. Ask for {less} or {more}, or say "
            "how many each host has: --gpus-per-host."
        )
    return Hosts(wanted // size, size)
