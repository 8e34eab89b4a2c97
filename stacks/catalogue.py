"""Which stacks a fleet has, and which must come before which."""

from typing import Literal, NamedTuple

from fleet import laptops
from fleet.model import Fleet

PROJECT = "landbridge"
Kind = Literal["region", "links", "cluster", "laptops", "pool", "addons"]
LINKS, ADDONS = "links", "-addons"


class StackSpec(NamedTuple):
    """One stack. `region` is where it stands; `depends_on` are names of stacks whose outputs it reads."""

    name: str
    kind: Kind
    region: str
    depends_on: tuple[str, ...] = ()


def catalogue(fleet: Fleet) -> list[StackSpec]:
    """Every stack that can be built: regions, links, clusters, ways in, pools, add-ons, each in the order of the file.

    `unbuilt` names what is left out.
    """
    regions = [StackSpec(name, "region", name) for name in fleet.regions if _built(fleet, name)]
    clusters = [
        StackSpec(name, "cluster", cluster.region, (cluster.region, *([cluster.copies] if cluster.copies else [])))
        for name, cluster in fleet.clusters.items()
        if _built(fleet, cluster.region)
    ]
    return [*regions, *links(fleet), *clusters, *ways_in(fleet), *pools(fleet), *addons(fleet)]


def links(fleet: Fleet) -> list[StackSpec]:
    """The one stack of what joins regions and sites, where there are two; it stands in the first of the regions."""
    regions = tuple(name for name in fleet.regions if _built(fleet, name))
    return [StackSpec(LINKS, "links", regions[0], regions)] if regions and len(regions) + len(fleet.sites) > 1 else []


def ways_in(fleet: Fleet) -> list[StackSpec]:
    """Stacks of the servers for laptops, one a region that has them, named REGION-laptops."""
    found = []
    for name in fleet.regions:
        cluster = laptops.cluster(fleet, name)
        if cluster and _built(fleet, fleet.clusters[cluster].region):
            found.append(StackSpec(laptops.stack(name), "laptops", name, (name, cluster)))
    return found


def pools(fleet: Fleet) -> list[StackSpec]:
    """Stacks of the pools, one each; a site's stands in its cluster's home, which has the bundle."""
    found = []
    for name, pool in fleet.pools.items():
        home = fleet.clusters[pool.cluster].region
        region = pool.region or home
        if _built(fleet, region) and _built(fleet, home):
            found.append(StackSpec(name, "pool", region, tuple(dict.fromkeys((region, pool.cluster)))))
    return found


def addons(fleet: Fleet) -> list[StackSpec]:
    """Stacks of what runs inside clusters, one each, named CLUSTER-addons; they read of every region with nodes."""
    found = []
    for name, cluster in fleet.clusters.items():
        own = [pool for pool in fleet.pools.values() if pool.cluster == name and pool.kind != "ssh"]
        regions = dict.fromkeys([cluster.region, *(pool.region for pool in own if pool.region)])
        if own and all(_built(fleet, region) for region in regions):
            found.append(StackSpec(f"{name}{ADDONS}", "addons", cluster.region, (*regions, name)))
    return found


def cluster_of(stack: str) -> str:
    """CLUSTER of CLUSTER-addons."""
    return stack.removesuffix(ADDONS)


def _built(fleet: Fleet, region: str) -> bool:
    return fleet.regions[region].cloud == "aws"


def no_stack(fleet: Fleet, file: str, name: str) -> str:
    """Why there is no stack of this name, for the user."""
    stacks = ", ".join(stack.name for stack in catalogue(fleet)) or "none"
    for kind, region in ((f"region {name}", name), (f"cluster {name}", _home(fleet, name))):
        if region in fleet.regions:
            return f"{file}: {kind} has no stack: {fleet.regions[region].cloud} is not built yet. Stacks: {stacks}."
    return f"{file} has no stack {name}. Its stacks: {stacks}."


def _home(fleet: Fleet, name: str) -> str:
    return fleet.clusters[name].region if name in fleet.clusters else ""


def unbuilt(fleet: Fleet) -> list[str]:
    """Entries of the fleet file that no stack builds yet, in words for the user."""
    found = [f"region {name}: Azure is not built yet" for name in fleet.regions if not _built(fleet, name)]
    found += [
        f"{kind} {name}: Azure, where its region {region} is, is not built yet"
        for kind, name, region in (
            *(("cluster", name, cluster.region) for name, cluster in fleet.clusters.items()),
            *(("pool", name, pool.region) for name, pool in fleet.pools.items() if pool.region),
        )
        if not _built(fleet, region)
    ]
    found += [
        f"region {name}: laptops have no servers, for the fleet has no cluster that these would be nodes of"
        for name, region in fleet.regions.items()
        if region.laptops and _built(fleet, name) and not laptops.served(fleet, name)
    ]
    return found
