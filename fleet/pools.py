"""What pools must keep to beside each other and beside their cluster: names, places, and what each is there for."""

import re
from collections.abc import Iterator

from .model import Fleet, PoolKind

Wrong = tuple[tuple[str | int, ...], str, str]
MACHINE_NAME = re.compile(r".+-(etcd|api)-\d+")
# Kind of pool → the work that runs there and nowhere else.
CLASSES: dict[PoolKind, str] = {"system": "DNS, the autoscaler and controllers", "cpu": "work without GPUs"}


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry."""
    yield from _system_pools_stand_well(fleet)
    yield from _work_has_a_place(fleet)
    yield from _names(fleet)
    yield from _caps(fleet)


def _system_pools_stand_well(fleet: Fleet) -> Iterator[Wrong]:
    for name, pool in fleet.pools.items():
        cluster = fleet.clusters.get(pool.cluster)
        if pool.kind == "system" and cluster and cluster.region in fleet.regions and pool.region != cluster.region:
            what = f"pool {name} is of kind system and not in {pool.cluster}'s home region"
            yield ("pools", name), what, f"Put it in {cluster.region}"
        region = fleet.regions.get(pool.region or "")
        if pool.kind == "system" and region and not pool.zones and len(region.zones) < 2:
            what = f"pool {name} is of kind system and needs two zones, and {pool.region} has one"
            yield ("pools", name), what, f"Declare a second zone of {pool.region}"


def _work_has_a_place(fleet: Fleet) -> Iterator[Wrong]:
    """Taints keep all other work off GPU and system machines: each class has pools of its own, or waits for ever."""
    for name in fleet.clusters:
        kinds = {pool.kind for pool in fleet.pools.values() if pool.cluster == name} - {"ssh"}
        for kind, work in CLASSES.items():
            if kinds and kind not in kinds:
                what = f"cluster {name} has pools and none of kind {kind}: {work} would have nowhere to run"
                yield ("clusters", name), what, f"Add a pool of kind {kind}"


def _names(fleet: Fleet) -> Iterator[Wrong]:
    """A pool has a stack of its name, and its bundle lies beside those of its cluster's machines."""
    for kind, names in (("pool", fleet.pools), ("cluster", fleet.clusters)):
        for name in names:
            if name == "links" or name.endswith("-addons"):
                what = (
                    f"{kind} {name} is called like the stack of links or of add-ons, and each has a stack of its name"
                )
                yield (f"{kind}s", name), what, f"Give the {kind} another name"
    for name in fleet.pools:
        taken = next((k for k, names in (("region", fleet.regions), ("cluster", fleet.clusters)) if name in names), "")
        if taken:
            what = f"pool {name} is called like a {taken}, and each has a stack of its name"
            yield ("pools", name), what, "Give the pool another name"
        if MACHINE_NAME.fullmatch(name):
            what = f"pool {name} is called like a machine of a cluster"
            yield ("pools", name), what, "Choose a name that does not end in -etcd-N or -api-N"


def _caps(fleet: Fleet) -> Iterator[Wrong]:
    """What a pool could never have is no size of it."""
    for name, pool in fleet.pools.items():
        team = fleet.teams.get(pool.owner)
        if team and team.max_gpus is not None and pool.max * pool.gpus > team.max_gpus:
            what = (
                f"pool {name} may grow to {pool.max * pool.gpus} GPUs, and team {pool.owner} may hold {team.max_gpus}"
            )
            remedy = f"Lower its max to {team.max_gpus // pool.gpus}, or raise the team's max_gpus"
            yield ("pools", name, "max"), what, remedy
