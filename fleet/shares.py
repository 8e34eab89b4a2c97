"""What shares must keep to beside each other: a directory each, none within another, and limits that can hold."""

from collections.abc import Iterator

from .model import Fleet

Wrong = tuple[tuple[str | int, ...], str, str]
# The share that holds people's homes, each in a folder of their name.
HOMES = "homes"


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry."""
    known = {name: share.path.rstrip("/") for name, share in fleet.storage.shares.items()}
    for name, path in known.items():
        if not path.strip("/") or "//" in path:
            what = f"share {name} has the path {fleet.storage.shares[name].path}, which is no directory of its own"
            yield ("storage", "shares", name, "path"), what, f"Name one, such as /{name}"
        for other, theirs in known.items():
            if theirs and other != name and ((path == theirs and other < name) or path.startswith(f"{theirs}/")):
                what = f"share {name} ({path}) lies in share {other} ({theirs})"
                yield ("storage", "shares", name, "path"), what, "Give each share a directory outside of the others"
    yield from _quotas(fleet)


def _quotas(fleet: Fleet) -> Iterator[Wrong]:
    """XFS counts a file in one project: in its home's, or in that of the whole share."""
    entry, homes = ("storage", "home_quota_gib"), fleet.storage.shares.get(HOMES)
    if fleet.storage.home_quota_gib is None:
        return
    if homes is None:
        yield (
            entry,
            f"homes have a quota, and there is no share {HOMES}",
            f"Declare storage.shares.{HOMES}, or remove it",
        )
    elif homes.quota_gib is not None:
        what = f"share {HOMES} has a quota, and so has each home in it: a file counts in one alone"
        yield entry, what, f"Remove this one or storage.shares.{HOMES}.quota_gib"


def clusters_of(fleet: Fleet, site: str) -> list[str]:
    """The clusters whose shares are a site's. Of several sites that serve NFS a cluster has the first."""
    found = []
    for cluster in sorted(fleet.clusters):
        places = {pool.site for pool in fleet.pools.values() if pool.cluster == cluster and pool.kind != "ssh"}
        serving = sorted(place for place in places if place in fleet.sites and fleet.sites[place].nfs)
        if serving[:1] == [site]:
            found.append(cluster)
    return found
