"""Which stacks a fleet has, and which must come before which."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from fleet import autoscaler, laptops
from fleet.buckets import in_azure
from fleet.model import Cloud, Fleet
from fleet.regions import CLOUDS

PROJECT = "landbridge"
Kind = Literal["region", "links", "cluster", "laptops", "pool", "addons"]
LINKS: Kind = "links"
ADDONS = "-addons"
# What can stand in a region of each cloud so far.
BUILT: Mapping[Cloud, frozenset[Kind]] = {
    "aws": frozenset(("region", "links", "cluster", "laptops", "pool", "addons")),
    "azure": frozenset(("region", "links", "cluster", "laptops", "pool", "addons")),
}


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
    regions = [StackSpec(name, "region", name) for name in fleet.regions if _built(fleet, name, "region")]
    clusters = [
        StackSpec(name, "cluster", cluster.region, (cluster.region, *([cluster.copies] if cluster.copies else [])))
        for name, cluster in fleet.clusters.items()
        if _built(fleet, cluster.region, "cluster")
    ]
    return [*regions, *links(fleet), *clusters, *ways_in(fleet), *pools(fleet), *addons(fleet)]


def links(fleet: Fleet) -> list[StackSpec]:
    """The one stack of what joins regions and sites, where there are two; it stands in the first of the regions."""
    regions = tuple(name for name in fleet.regions if _built(fleet, name, LINKS))
    return [StackSpec(LINKS, "links", regions[0], regions)] if regions and len(regions) + len(fleet.sites) > 1 else []


def ways_in(fleet: Fleet) -> list[StackSpec]:
    """Stacks of the servers for laptops, one a region that has them, named REGION-laptops."""
    found = []
    for name in fleet.regions:
        cluster = laptops.cluster(fleet, name)
        if cluster and _built(fleet, name, "laptops") and _built(fleet, fleet.clusters[cluster].region, "cluster"):
            found.append(StackSpec(laptops.stack(name), "laptops", name, (name, cluster)))
    return found


def pools(fleet: Fleet) -> list[StackSpec]:
    """Stacks of the pools, one each; a site's stands in its cluster's home, which has the bundle."""
    found = []
    for name, pool in fleet.pools.items():
        home = fleet.clusters[pool.cluster].region
        region = pool.region or home
        if _built(fleet, region, "pool") and _built(fleet, home, "cluster"):
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
        if regions and _built(fleet, cluster.region, "cluster") and not _unfit(fleet, name):
            found.append(StackSpec(f"{name}{ADDONS}", "addons", cluster.region, (*regions, *servers, name, *sets)))
    return found


def _with_nodes(fleet: Fleet, cluster: str) -> list[str]:
    """The cluster's own region and those of its pools of nodes; none where it has no such pool."""
    own = [pool for pool in fleet.pools.values() if pool.cluster == cluster and pool.kind != "ssh"]
    home = fleet.clusters[cluster].region
    return list(dict.fromkeys([home, *(pool.region for pool in own if pool.region)])) if own else []


def _unfit(fleet: Fleet, cluster: str) -> list[str]:
    """Regions that keep the cluster's add-ons from being built: its home, and any with nodes, as these read of each."""
    home = fleet.clusters[cluster].region
    lacks = (name for name in _with_nodes(fleet, cluster) if not _built(fleet, name, "pool"))
    return list(dict.fromkeys([*lacks, *([] if _built(fleet, home, "addons") else [home])]))


def cluster_of(stack: str) -> str:
    """CLUSTER of CLUSTER-addons."""
    return stack.removesuffix(ADDONS)


def _built(fleet: Fleet, region: str, kind: Kind) -> bool:
    return kind in BUILT[fleet.regions[region].cloud]


def no_stack(fleet: Fleet, file: str, name: str) -> str:
    """Why there is no stack of this name, for the user."""
    stacks = ", ".join(stack.name for stack in catalogue(fleet)) or "none"
    wanted: tuple[tuple[Kind, str], ...] = (("region", name), ("cluster", _home(fleet, name)), *_places(fleet, name))
    for kind, region in wanted:
        if region in fleet.regions and not _built(fleet, region, kind):
            whose = "pool" if name in fleet.pools else kind
            what = f"{whose} {name} has no stack: a {kind} in {CLOUDS[fleet.regions[region].cloud]} is not built yet"
            return f"{file}: {what}. Stacks: {stacks}."
    return f"{file} has no stack {name}. Its stacks: {stacks}."


def _cloud(fleet: Fleet, cluster: str) -> str:
    return CLOUDS[fleet.regions[fleet.clusters[cluster].region].cloud]


def _home(fleet: Fleet, name: str) -> str:
    return fleet.clusters[name].region if name in fleet.clusters else ""


def _places(fleet: Fleet, name: str) -> tuple[tuple[Kind, str], ...]:
    """What must be built for a pool, and where."""
    if name not in fleet.pools:
        return ()
    pool = fleet.pools[name]
    home = fleet.clusters[pool.cluster].region
    return (*((("pool", pool.region),) if pool.region else ()), ("cluster", home))


def unbuilt(fleet: Fleet) -> list[str]:
    """Entries of the fleet file that no stack builds yet, in words for the user."""
    joined = len(fleet.regions) + len(fleet.sites) > 1
    wanted: list[tuple[Kind, str, str]] = [
        *(("region", f"region {name}", name) for name in fleet.regions),
        *((LINKS, f"region {name}: links with other places", name) for name in fleet.regions if joined),
        *(("laptops", f"region {name}: laptops", name) for name, region in fleet.regions.items() if region.laptops),
        *(("cluster", f"cluster {name}", cluster.region) for name, cluster in fleet.clusters.items()),
        *(("pool", f"pool {name}", pool.region) for name, pool in fleet.pools.items() if pool.region),
    ]
    there = {stack.name for stack in catalogue(fleet)}
    found = [
        f"{what}: not built yet in {CLOUDS[fleet.regions[region].cloud]}"
        for kind, what, region in wanted
        if not _built(fleet, region, kind)
    ]
    found += [
        f"pool {name}: not built, for its cluster {pool.cluster} in {_cloud(fleet, pool.cluster)} is not"
        for name, pool in fleet.pools.items()
        if name not in there and (pool.region is None or _built(fleet, pool.region, "pool"))
    ]
    found += [
        f"cluster {name}: add-ons are not built yet for a cluster with pools in {CLOUDS[cloud]}"
        for name in fleet.clusters
        if name in there and f"{name}{ADDONS}" not in there
        for cloud in sorted({fleet.regions[region].cloud for region in _unfit(fleet, name)})
    ]
    found += [
        f"region {name}: laptops have no servers, for the fleet has no cluster that these would be nodes of"
        for name, region in fleet.regions.items()
        if region.laptops and _built(fleet, name, "laptops") and not laptops.served(fleet, name)
    ]
    return found
