"""A site's NFS server as plain data: who may mount, what there is, who may hold how much, where copies go."""

import hashlib
import uuid
from typing import NamedTuple

from fleet.address.plan import AddressPlan
from fleet.buckets import bucket_name
from fleet.model import Fleet
from fleet.shares import HOMES, clusters_of, server_pool

from ..places import NFS

# Projects of XFS. A home's is its person's uid, which ends at 60000; a share's lies beyond and follows from its name.
FIRST_PROJECT, PROJECTS = 1 << 20, 1 << 24
HOME_MODE = "0700"


class Folder(NamedTuple):
    """A share, or a home in share `homes`. `path` is what clients mount; `project` counts it, None: its share does."""

    name: str
    path: str
    uid: int
    gid: int
    mode: str
    project: int | None
    quota_gib: int | None
    fsid: str = ""
    backup: bool = False


class Place(NamedTuple):
    """Where backups go, and the role that may bring them there."""

    region: str
    bucket: str
    prefix: str


class NfsSpec(NamedTuple):
    """`clients` are CIDRs by whose they are. `backup` is None where the fleet wants none or has no bucket."""

    site: str
    host: str
    clients: dict[str, str]
    shares: tuple[Folder, ...]
    homes: tuple[Folder, ...]
    backup: Place | None


def nfs_spec(fleet: Fleet, plan: AddressPlan, site: str) -> NfsSpec:
    """Raises ValueError for a site without an NFS server."""
    host = fleet.sites[site].nfs
    if host is None:
        raise ValueError(f"site {site} has no NFS server: sites.{site}.nfs names none")
    shares = tuple(_share(fleet, site, name) for name in sorted(fleet.storage.shares))
    projects = [folder.project for folder in shares if folder.project is not None]
    if len(set(projects)) != len(projects):
        raise ValueError(f"two of the shares {', '.join(f.name for f in shares)} would have one project: rename one")
    return NfsSpec(site, host, clients(fleet, plan, site), shares, _homes(fleet), _backup(fleet, site))


def clients(fleet: Fleet, plan: AddressPlan, site: str) -> dict[str, str]:
    """The site's own LAN, and the networks of machines of those clusters whose shares these are."""
    found, ours = {f"site/{site}": plan.site(site).lan}, clusters_of(fleet, site)
    for pool in fleet.pools.values():
        if pool.cluster in ours and pool.region:
            found[f"region/{pool.region}"] = plan.region(pool.region).network
        elif pool.cluster in ours and pool.site:
            found[f"site/{pool.site}"] = plan.site(pool.site).lan
    return dict(sorted(found.items()))


def _share(fleet: Fleet, site: str, name: str) -> Folder:
    share = fleet.storage.shares[name]
    counted = name != HOMES or share.quota_gib is not None
    digest = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return Folder(
        name,
        share.path.rstrip("/"),
        share.uid,
        share.gid,
        share.mode,
        FIRST_PROJECT + digest % PROJECTS if counted else None,
        share.quota_gib,
        fsid(fleet.fleet, site, name),
        share.backup,
    )


def _homes(fleet: Fleet) -> tuple[Folder, ...]:
    share = fleet.storage.shares.get(HOMES)
    if share is None:
        return ()
    return tuple(
        Folder(
            name,
            f"{share.path.rstrip('/')}/{name}",
            person.uid,
            fleet.teams[person.team].gid,
            HOME_MODE,
            person.uid if share.quota_gib is None else None,
            fleet.storage.home_quota_gib,
        )
        for name, person in sorted(fleet.people.items())
    )


def _backup(fleet: Fleet, site: str) -> Place | None:
    """The bucket of the home region of the cluster whose node the host is: that cluster vouches for it there."""
    pool = server_pool(fleet, site)
    if pool is None or not fleet.storage.backups:
        return None
    region = fleet.clusters[fleet.pools[pool].cluster].region
    if fleet.regions[region].cloud != "aws":
        return None
    return Place(region, bucket_name(fleet, region), f"{NFS}/{site}")


def fsid(fleet: str, site: str, name: str) -> str:
    """Of an export, for ever the same: clients keep files open through a server that was made anew."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{name}.{site}.{fleet}"))
