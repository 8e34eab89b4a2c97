"""All machines that a fleet has in clouds, or may have: of pools, control planes and servers for laptops. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from components.control_plane.profiles import PROFILES
from components.links.laptops.nodes import INSTANCE_TYPES
from fleet import laptops
from fleet.model import Fleet


class Bought(NamedTuple):
    """Like machines in one region, from `least` to `most` of them. `bid` is US dollars an hour for a spot machine.

    `entry` of the fleet file says which type they are, `stack` makes them, in `zones`, as the fleet file writes these.
    """

    what: str
    region: str
    instance_type: str
    least: int
    most: int
    spot: bool = False
    bid: float | None = None
    entry: tuple[str, ...] = ()
    stack: str = ""
    zones: tuple[str, ...] = ()


def bought(fleet: Fleet) -> list[Bought]:
    return [*_of_control_planes(fleet), *_of_laptops(fleet), *_of_pools(fleet)]


def types(fleet: Fleet) -> Mapping[str, list[str]]:
    """Region → instance types whose prices the fleet goes by: in each those of all regions of its cloud, to compare."""
    of_cloud = defaultdict[str, set[str]](set)
    for one in bought(fleet):
        of_cloud[fleet.regions[one.region].cloud].add(one.instance_type)
    return {name: sorted(of_cloud[region.cloud]) for name, region in fleet.regions.items()}


def _of_control_planes(fleet: Fleet) -> Iterator[Bought]:
    for name, cluster in fleet.clusters.items():
        profile, azure = PROFILES[cluster.size], fleet.regions[cluster.region].cloud == "azure"
        etcd, api = (profile.etcd_size, profile.api_size) if azure else (profile.etcd_type, profile.api_type)
        for part, kind, number in (("etcd", etcd, cluster.etcd_members), ("API servers", api, cluster.api_servers)):
            zones = tuple(fleet.regions[cluster.region].zones)
            yield Bought(
                f"{part} of {name}",
                cluster.region,
                kind,
                number,
                number,
                entry=("clusters", name, "size"),
                stack=name,
                zones=zones,
            )


def _of_laptops(fleet: Fleet) -> Iterator[Bought]:
    for name, region in fleet.regions.items():
        if number := len(laptops.servers(fleet, name)):
            kind, entry, zones = INSTANCE_TYPES[region.cloud], ("regions", name, "laptops"), laptops.zones(region.zones)
            stack = laptops.stack(name)
            yield Bought(f"laptops of {name}", name, kind, number, number, entry=entry, stack=stack, zones=zones)


def _of_pools(fleet: Fleet) -> Iterator[Bought]:
    """Spares stand ready also where nobody works."""
    for name, pool in fleet.pools.items():
        if pool.region and pool.instance_type:
            least = max(pool.min, pool.spares)
            bid = pool.max_price_per_hour if pool.spot else None
            zones = tuple(pool.zones or fleet.regions[pool.region].zones)
            entry = ("pools", name, "instance_type")
            yield Bought(name, pool.region, pool.instance_type, least, pool.max, pool.spot, bid, entry, name, zones)
