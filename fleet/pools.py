"""What pools must keep to beside each other and beside their cluster: names, places, and what each is there for."""

import re
from collections.abc import Iterator

from . import laptops, shapes
from .model import Fleet, PoolKind

Wrong = tuple[tuple[str | int, ...], str, str]
MACHINE_NAME = re.compile(r".+-(etcd|api)-\d+")
# Kind of pool → the work that runs there and nowhere else. Where work without GPUs goes is its people's choice: that
# there is no pool for it is a remark.
CLASSES: dict[PoolKind, str] = {"system": "DNS, the autoscaler and controllers"}


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry."""
    yield from _system_pools_stand_well(fleet)
    yield from _work_has_a_place(fleet)
    yield from _names(fleet)
    yield from _types_are_the_cloud_s(fleet)
    yield from _hosts_are_alike(fleet)
    yield from _spares_can_stand(fleet)
    yield from _laptop_servers(fleet)


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
    """Taints keep all other work off GPU and system machines: what every cluster has needs a pool of its own."""
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
            if name == "links" or name.endswith(("-addons", laptops.STACK)):
                what = f"{kind} {name} is called like the stack of links, of add-ons or of laptops: each has its name"
                yield (f"{kind}s", name), what, f"Give the {kind} another name"
    for name in fleet.pools:
        taken = next((k for k, names in (("region", fleet.regions), ("cluster", fleet.clusters)) if name in names), "")
        if taken:
            what = f"pool {name} is called like a {taken}, and each has a stack of its name"
            yield ("pools", name), what, "Give the pool another name"
        if MACHINE_NAME.fullmatch(name):
            what = f"pool {name} is called like a machine of a cluster"
            yield ("pools", name), what, "Choose a name that does not end in -etcd-N or -api-N"


def _types_are_the_cloud_s(fleet: Fleet) -> Iterator[Wrong]:
    """What they have says fleet.shape_rules."""
    for name, pool in fleet.pools.items():
        region = fleet.regions.get(pool.region or "")
        if region is None or not pool.instance_type:
            continue
        entry, (form, example) = ("pools", name, "instance_type"), shapes.FORMS[region.cloud]
        if not form.fullmatch(pool.instance_type):
            what = f"pool {name} is in {pool.region}, and {pool.instance_type} is no machine type of {region.cloud}"
            yield entry, what, f"Name one of its own, such as {example}"


def _hosts_are_alike(fleet: Fleet) -> Iterator[Wrong]:
    """Whoever asks for a pool's machine may get any of them."""
    for name, pool in fleet.pools.items():
        site = fleet.sites.get(pool.site or "")
        known = [(host, site.hosts[host]) for host in pool.hosts if site and host in site.hosts]
        for host, has in known[1:]:
            first, other = known[0]
            if (has.gpus, has.gpu, has.rdma) != (other.gpus, other.gpu, other.rdma):
                what = f"pool {name} has the hosts {first} and {host}, which differ in gpus, gpu or rdma"
                yield ("pools", name, "hosts", pool.hosts.index(host)), what, f"Put {host} in a pool of its own"


def _laptop_servers(fleet: Fleet) -> Iterator[Wrong]:
    """Servers for laptops are nodes that no pool has."""
    for name, region in fleet.regions.items():
        if isinstance(region.laptops, str) and region.laptops not in fleet.clusters:
            what = f"regions.{name}.laptops names the cluster {region.laptops}, which is not declared"
            known = ", ".join(sorted(fleet.clusters)) or "none"
            yield ("regions", name, "laptops"), what, f"Known: {known}; or true"
        if region.laptops is True and len(choice := laptops.candidates(fleet, name)) > 1:
            what = (
                f"regions.{name}.laptops is true, and laptops reach pods of one cluster: there are {', '.join(choice)}"
            )
            yield ("regions", name, "laptops"), what, f"Name the one that is meant, such as laptops: {choice[0]}"
        if region.laptop_services and not region.laptops:
            what = f"regions.{name}.laptop_services is for laptops, and none come in there"
            yield ("regions", name, "laptop_services"), what, "Set laptops: true, or remove it"


def _spares_can_stand(fleet: Fleet) -> Iterator[Wrong]:
    for name, pool in fleet.pools.items():
        if pool.spares and (pool.kind != "gpu" or not pool.region):
            what = f"pool {name} has spares and is not of kind gpu in a region"
            yield ("pools", name, "spares"), what, "Remove spares; min keeps machines of other kinds"
        elif pool.spares > pool.max:
            what = f"pool {name} has {pool.spares} spares and a max of {pool.max}"
            yield ("pools", name, "spares"), what, "Raise max or keep fewer spares"
