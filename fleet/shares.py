"""What shares must keep to beside each other: a directory each, none within another, limits, and who serves them."""

from collections.abc import Iterator

from .model import Fleet

Wrong = tuple[tuple[str | int, ...], str, str]
# The share that holds people's homes, each in a folder of their name.
HOMES = "homes"
# Of one file system of EFS ("Creating access points"). AWS raises it for those who ask.
ACCESS_POINTS = 10_000


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
    yield from _access_points(fleet)
    yield from _servers(fleet)


def server_pool(fleet: Fleet, site: str) -> str | None:
    """The pool that has the host which serves a site's NFS: with that pool's stack come its files and its role."""
    serves = fleet.sites[site].nfs
    return next((name for name, pool in fleet.pools.items() if pool.site == site and serves in pool.hosts), None)


def _servers(fleet: Fleet) -> Iterator[Wrong]:
    """The server's files come with its pool's, and its rights in the cloud with its certificate as a node."""
    for name, site in fleet.sites.items():
        if site.nfs not in site.hosts:
            continue  # none, or one that is not declared
        entry, what = ("sites", name, "nfs"), f"sites.{name}.nfs names the host {site.nfs}, which"
        pool = server_pool(fleet, name)
        if pool is None:
            remedy = f"Add {site.nfs} to hosts of a pool at site {name}, or name a host that is in one"
            yield entry, f"{what} is in no pool: nothing would bring it the server's files", remedy
        elif fleet.pools[pool].kind == "ssh":
            remedy = f"Name a host of a pool of another kind at site {name}"
            yield entry, f"{what} is in pool {pool} of kind ssh: it is no node, and its backups could not leave", remedy


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


def _access_points(fleet: Fleet) -> Iterator[Wrong]:
    """In each region of AWS every share has one, and every home."""
    if not any(region.cloud == "aws" for region in fleet.regions.values()) or HOMES not in fleet.storage.shares:
        return
    shares, people = len(fleet.storage.shares), len(fleet.people)
    if shares + people > ACCESS_POINTS:
        what = (
            f"{people} people and {shares} shares need {shares + people} access points of EFS, one each, and a file "
            f"system has at most {ACCESS_POINTS}"
        )
        yield ("people",), what, f"Remove {shares + people - ACCESS_POINTS} people or more: their homes stay"


def home_path(fleet: Fleet, person: str) -> str:
    """Where a person's home lies for everybody who mounts it. Raises KeyError in a fleet without homes."""
    return f"{fleet.storage.shares[HOMES].path.rstrip('/')}/{person}"


def serving_site(fleet: Fleet, cluster: str) -> str | None:
    """Whose NFS server has a cluster's shares: of several sites with nodes of it that serve NFS the first."""
    places = {pool.site for pool in fleet.pools.values() if pool.cluster == cluster and pool.kind != "ssh"}
    return min((place for place in places if place in fleet.sites and fleet.sites[place].nfs), default=None)


def clusters_of(fleet: Fleet, site: str) -> list[str]:
    """The clusters whose shares are a site's."""
    return [cluster for cluster in sorted(fleet.clusters) if serving_site(fleet, cluster) == site]
