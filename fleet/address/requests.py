"""What a fleet needs addresses for: a flat list of named requests, parents before children."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from ..model import Fleet
from . import sizes
from .blocks import Block, parse

# Where a region of AWS is asked for names, and from where it asks another cloud for them: Route 53 takes no fewer than
# two addresses, and two zones outlive one.
RESOLVER, OUTBOUND, RESOLVERS = "resolver", "asking", 2


class Request(NamedTuple):
    """One prefix somebody needs, `length` bits long; `azure` says that Azure's range for tunnels is the only choice."""

    name: str
    length: int
    entry: tuple[str, ...]  # where in the fleet file it comes from
    pin: Block | None = None
    azure: bool = False


def requests(fleet: Fleet, live: Collection[str] = ()) -> list[Request]:
    """Every prefix of the fleet, in an order that depends on names and sizes only, never on the file's order.

    `live` are the names in the ledger: a machine stays in the zone where it has its address.
    """
    found = [*_regions(fleet), *_sites(fleet), *_clusters(fleet), *_tunnels(fleet), *_addresses(fleet, live)]
    # Pins first, then large before small: that leaves the fewest holes.
    return sorted(found, key=lambda r: (r.name.count("/"), r.pin is None, r.length, r.name))


def asks(fleet: Fleet) -> bool:
    """Whether regions ask those of another cloud for names, as no cloud knows another one's."""
    return len({region.cloud for region in fleet.regions.values()}) > 1


def is_asked(fleet: Fleet) -> bool:
    """Whether anybody from outside of their networks asks regions for names."""
    return bool(fleet.sites) or asks(fleet)


def _pin(cidr: str | None) -> Block | None:
    return parse(cidr) if cidr else None


def _regions(fleet: Fleet) -> list[Request]:
    found = []
    for region_name, region in fleet.regions.items():
        name, entry, size = f"region/{region_name}", ("regions", region_name), sizes.REGIONS[region.size]
        pin = _pin(region.cidr)
        found.append(Request(name, pin.length if pin else size.block, entry, pin))
        found.append(Request(f"{name}/network", size.network, entry))
        for zone in region.zones:
            zone_name = f"{name}/zone/{zone}"
            found.append(Request(zone_name, size.zone, entry))
            found.append(Request(f"{zone_name}/private", size.private, entry))
            found.append(Request(f"{zone_name}/public", size.public, entry))
        if region.cloud == "azure":
            found.append(Request(f"{name}/gateway", sizes.GATEWAYS[region.size], entry))
            found += [Request(f"{name}/names", sizes.NAMES, entry)] if is_asked(fleet) else []
            found += [Request(f"{name}/questions", sizes.NAMES, entry)] if asks(fleet) else []
        if region.laptops:
            found += [Request(f"{name}/laptops/{n}", sizes.LAPTOPS, entry) for n in sizes.LAPTOP_POOLS]
    return found


def _sites(fleet: Fleet) -> list[Request]:
    found = []
    for site_name, site in fleet.sites.items():
        block, lan = sizes.SITES[site.size]
        pin, entry = _pin(site.cidr), ("sites", site_name)
        # A pinned site is a LAN that exists: it is used whole.
        lan = pin.length if pin else lan
        found.append(Request(f"site/{site_name}", pin.length if pin else block, entry, pin))
        found.append(Request(f"site/{site_name}/lan", lan, entry))
    return found


def _clusters(fleet: Fleet) -> list[Request]:
    found = []
    for cluster_name, cluster in fleet.clusters.items():
        name, entry, size = f"cluster/{cluster_name}", ("clusters", cluster_name), sizes.CLUSTERS[cluster.size]
        pin = _pin(cluster.cidr)
        found.append(Request(name, pin.length if pin else size.block, entry, pin))
        found.append(Request(f"{name}/pods", size.pods, entry))
        found.append(Request(f"{name}/services", size.services, entry))
    return found


def _tunnels(fleet: Fleet) -> list[Request]:
    found = []
    for region_name, region in fleet.regions.items():
        azure = region.cloud == "azure"
        for site_name, site in fleet.sites.items():
            count = len(site.gateways) * sizes.TUNNELS_A_GATEWAY
            found += _link(f"link/{site_name}/{region_name}", count, ("sites", site_name), azure=azure)
        if azure:
            for other_name in (name for name, other in fleet.regions.items() if other.cloud == "aws"):
                link = f"link/{other_name}/{region_name}"
                found += _link(link, sizes.TUNNELS_BETWEEN_CLOUDS, ("regions", region_name), azure=True)
    return found


def _link(name: str, count: int, entry: tuple[str, ...], *, azure: bool) -> list[Request]:
    return [Request(f"{name}/{n}", sizes.TUNNEL, entry, azure=azure) for n in range(1, count + 1)]


def _addresses(fleet: Fleet, live: Collection[str]) -> list[Request]:
    """Single addresses in private subnets, for what must be found under one address for years."""
    found = []
    for region_name, region in fleet.regions.items():
        for zone in region.zones:
            name = f"region/{region_name}/zone/{zone}/private/shares"
            found.append(Request(name, sizes.ADDRESS, ("regions", region_name)))
        if region.cloud == "aws":
            homes = {zone: f"region/{region_name}/zone/{zone}/private" for zone in sorted(region.zones)}
            for role, wanted in ((RESOLVER, is_asked(fleet)), (OUTBOUND, asks(fleet))):
                names = _spread(f"{role}/", RESOLVERS, homes, live) if wanted else []
                found += [Request(name, sizes.ADDRESS, ("regions", region_name)) for name in names]
    for cluster_name, cluster in fleet.clusters.items():
        home = f"region/{cluster.region}/zone"
        zones = {zone: f"{home}/{zone}/private/{cluster_name}" for zone in sorted(fleet.regions[cluster.region].zones)}
        names = [f"{home}/balancer" for home in zones.values()]
        names += _spread("etcd-", cluster.etcd_members, zones, live)
        names += _spread("api-", cluster.api_servers, zones, live)
        found += [Request(name, sizes.ADDRESS, ("clusters", cluster_name)) for name in names]
    return found


def _spread(role: str, count: int, zones: Mapping[str, str], live: Collection[str]) -> list[str]:
    """One name a machine: where it lives already, else in the zone that has the fewest of its role."""
    machines = [f"{role}{n}" for n in range(1, count + 1)]
    placed = {m: zone for m in machines for zone, home in zones.items() if f"{home}/{m}" in live}
    for machine in machines:
        if machine not in placed:
            placed[machine] = min(zones, key=lambda zone: list(placed.values()).count(zone))
    return [f"{zones[placed[machine]]}/{machine}" for machine in machines]
