"""How many machines a pool may have at most: what its cluster, its region's prefix and scaling groups hold."""

from collections.abc import Iterator

from .address import sizes
from .model import Cluster, Fleet, Pool, Region

Wrong = tuple[tuple[str | int, ...], str, str]
# "What are Virtual Machine Scale Sets?": instances of one scale set whose image is in a gallery. GPU pools have one a
# zone, others one in all.
AZURE_SET = 1_000


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Pools whose max none of them could ever have."""
    for name, pool in fleet.pools.items():
        region, cluster = fleet.regions.get(pool.region or ""), fleet.clusters.get(pool.cluster)
        if region is None or cluster is None:
            continue
        most, why = min(_bounds(pool, region, cluster))
        if pool.max > most:
            yield ("pools", name, "max"), f"pool {name} has max {pool.max}, and {why}", f"Set max to at most {most}"


def _bounds(pool: Pool, region: Region, cluster: Cluster) -> Iterator[tuple[int, str]]:
    nodes = sizes.CLUSTERS[cluster.size].nodes
    zones = len(pool.zones or region.zones)
    yield nodes, f"cluster {pool.cluster} of size {cluster.size} holds {nodes} nodes"
    a_zone = addresses(region)
    yield (
        zones * a_zone,
        f"{pool.region} of size {region.size} has addresses for {a_zone} machines in each of its zones",
    )
    if region.cloud == "azure":
        sets = zones if pool.kind == "gpu" else 1
        yield sets * AZURE_SET, f"a scale set of Azure holds {AZURE_SET}"


def addresses(region: Region) -> int:
    """For machines in the private subnet of one zone: less its first block, and the one that clouds keep at the end."""
    return (1 << 32 - sizes.REGIONS[region.size].private) - (1 << 32 - sizes.FIXED) - 1
