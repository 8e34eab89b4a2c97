"""Who reads for a cluster's Prometheus what only clouds and buckets know, and what of it that may be.

What it is told, what its role allows and what the policy pack takes all go by this.
"""

from typing import NamedTuple

from . import autoscaler, image_names
from .model import Cloud, Fleet

SPACE, ACCOUNT = "kube-system", "fleet-metrics"
# Whom a token of its service account is about.
SUBJECT = f"system:serviceaccount:{SPACE}:{ACCOUNT}"
HOME, COPY, RESTORES, DRIFT = "home", "copy", "restores", "drift"
_BLOBS = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs"


class Folder(NamedTuple):
    """Below `prefix` in the fleet bucket of `region` lie a cluster's snapshots, those of its home or their copies, or
    what drills leave of restores that they have tested, or looks at drift of what they have found.
    """

    where: str
    region: str
    prefix: str


def folders(fleet: Fleet, cluster: str) -> list[Folder]:
    """What it may list, and nothing more: it reads none."""
    return [*snapshots(fleet, cluster), restores(fleet, cluster), drift(fleet, cluster)]


def listed(fleet: Fleet, cluster: str) -> dict[str, list[str]]:
    """The prefixes by regions."""
    found = dict[str, list[str]]()
    for one in folders(fleet, cluster):
        found.setdefault(one.region, []).append(one.prefix)
    return found


def snapshots(fleet: Fleet, cluster: str) -> list[Folder]:
    """Copies lie in another region of the home's cloud."""
    about = fleet.clusters[cluster]
    copies = [Folder(COPY, about.copies, f"copies/{about.region}/{cluster}/")] if about.copies else []
    return [Folder(HOME, about.region, f"backups/{cluster}/"), *copies]


def restores(fleet: Fleet, cluster: str) -> Folder:
    return Folder(RESTORES, fleet.clusters[cluster].region, drilled(cluster))


def drilled(cluster: str) -> str:
    """Where drills tell of restores. What lies there never goes: components/storage/places.py."""
    return f"{RESTORES}/{cluster}/"


def drift(fleet: Fleet, cluster: str) -> Folder:
    return Folder(DRIFT, fleet.clusters[cluster].region, looked_at(cluster))


def looked_at(cluster: str) -> str:
    """Where looks at drift tell of stacks: STACK/TIME-COUNT.json."""
    return f"{DRIFT}/{cluster}/"


def places(fleet: Fleet, cluster: str) -> set[str]:
    """The cluster's home, and the regions and sites of its nodes."""
    pools = [pool for pool in fleet.pools.values() if pool.cluster == cluster and pool.kind != "ssh"]
    return {fleet.clusters[cluster].region, *(place for pool in pools if (place := pool.region or pool.site))}


def filed(fleet: Fleet, cluster: str, cloud: Cloud) -> list[str]:
    """Regions of a cloud with shares that the cluster's pods may have."""
    there = places(fleet, cluster) if fleet.storage.shares else set[str]()
    return sorted(name for name in there if name in fleet.regions and fleet.regions[name].cloud == cloud)


def linked(fleet: Fleet, cluster: str, cloud: Cloud) -> list[str]:
    """Regions of a cloud of whose tunnels it asks: with the cluster's sites; and AWS tells of those with Azure."""
    there = places(fleet, cluster)
    regions = {name: fleet.regions[name].cloud for name in there if name in fleet.regions}
    beyond = there & fleet.sites.keys() or (cloud == "aws" and "azure" in regions.values())
    return sorted(name for name, its in regions.items() if its == cloud) if beyond else []


def channel_arns(fleet: Fleet, cluster: str) -> list[str]:
    """In AWS: the parameters that say which images the cluster's pools start from."""
    if fleet.aws is None:
        return []
    account = fleet.aws.account_id
    pools = autoscaler.pools(fleet, cluster, "aws").items()
    return sorted(
        {f"arn:aws:ssm:{pool.region}:{account}:parameter{image_names.of_pool(fleet, name)}" for name, pool in pools}
    )


def condition(*prefixes: str) -> str:
    """In Azure: of a role that reads blobs it leaves the list of their names below some prefixes ("Azure role
    assignment condition format"). Azure takes one assignment of a role on one scope to one identity.
    """
    read, lists = f"ActionMatches{{'{_BLOBS}/read'}}", "SubOperationMatches{'Blob.List'}"
    there = " OR ".join(f"@Request[{_BLOBS}:prefix] StringLike '{prefix}*'" for prefix in prefixes)
    return f"!({read} AND NOT {lists}) AND (!({read} AND {lists}) OR {there})"
