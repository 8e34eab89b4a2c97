"""Which stacks a fleet has, and which must come before which."""

from typing import Literal, NamedTuple

from fleet import autoscaler, laptops
from fleet.buckets import in_azure
from fleet.model import Fleet

PROJECT = "landbridge"
Kind = Literal["region", "links", "cluster", "laptops", "pool", "addons"]
LINKS: Kind = "links"
ADDONS = "-addons"


class StackSpec(NamedTuple):
    """One stack. `region` is where it stands; `depends_on` are names of stacks whose outputs it reads."""

    name: str
    kind: Kind
    region: str
    depends_on: tuple[str, ...] = ()


def catalogue(fleet: Fleet) -> list[StackSpec]:
    """Every stack: regions, links, clusters, ways in, pools, add-ons, each in the order of the file."""
    regions = [StackSpec(name, "region", name) for name in fleet.regions]
    clusters = [
        StackSpec(name, "cluster", cluster.region, (cluster.region, *([cluster.copies] if cluster.copies else [])))
        for name, cluster in fleet.clusters.items()
    ]
    return [*regions, *links(fleet), *clusters, *laptop_stacks(fleet), *pools(fleet), *addons(fleet)]


def links(fleet: Fleet) -> list[StackSpec]:
    """The one stack of what joins regions and sites, where there are two; it stands in the first of the regions."""
    regions = tuple(fleet.regions)
    return [StackSpec(LINKS, "links", regions[0], regions)] if regions and len(regions) + len(fleet.sites) > 1 else []


def laptop_stacks(fleet: Fleet) -> list[StackSpec]:
    """Stacks of the servers for laptops, one a region that has them, named REGION-laptops."""
    served = ((name, laptops.cluster(fleet, name)) for name in fleet.regions)
    return [StackSpec(laptops.stack(name), "laptops", name, (name, cluster)) for name, cluster in served if cluster]


def pools(fleet: Fleet) -> list[StackSpec]:
    """Stacks of the pools, one each; a site's stands in its cluster's home, which has the bundle."""
    found = []
    for name, pool in fleet.pools.items():
        region = pool.region or fleet.clusters[pool.cluster].region
        found.append(StackSpec(name, "pool", region, tuple(dict.fromkeys((region, pool.cluster)))))
    return found


def addons(fleet: Fleet) -> list[StackSpec]:
    """Stacks of what runs inside clusters, one each, named CLUSTER-addons; they read of every region with nodes.

    A right to a scale set of Azure is given on the scale set, which must be there before; one to look at servers for
    laptops there on their region.
    """
    found = []
    for name, cluster in fleet.clusters.items():
        regions, sets = _with_nodes(fleet, name), autoscaler.pools(fleet, name, "azure")
        servers = [one for one in laptops.regions(fleet, name) if in_azure(fleet, one) and one not in regions]
        if regions:
            found.append(StackSpec(f"{name}{ADDONS}", "addons", cluster.region, (*regions, *servers, name, *sets)))
    return found


def _with_nodes(fleet: Fleet, cluster: str) -> list[str]:
    """The cluster's own region and those of its pools of nodes; none where it has no such pool."""
    own = [pool for pool in fleet.pools.values() if pool.cluster == cluster and pool.kind != "ssh"]
    home = fleet.clusters[cluster].region
    return list(dict.fromkeys([home, *(pool.region for pool in own if pool.region)])) if own else []


def cluster_of(stack: str) -> str:
    """CLUSTER of CLUSTER-addons."""
    return stack.removesuffix(ADDONS)


def no_stack(fleet: Fleet, file: str, name: str) -> str:
    """Why there is no stack of this name, for the user."""
    stacks = ", ".join(stack.name for stack in catalogue(fleet)) or "none"
    return f"{file} has no stack {name}. Its stacks: {stacks}."


def unserved(fleet: Fleet) -> list[str]:
    """Entries of the fleet file that no stack builds, in words for the user."""
    return [
        f"region {name}: laptops have no servers, for the fleet has no cluster that these would be nodes of"
        for name, region in fleet.regions.items()
        if region.laptops and not laptops.served(fleet, name)
    ]
