"""Where a cluster's shares come from, for pods and for machines of kind ssh alike: one decision, two ways to mount.

A site's NFS server if the cluster has nodes at one, else EFS of its home region.
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from fleet.model import Fleet
from fleet.shares import home_path, serving_site

# Never soft: a write that gives up is lost. Four connections, as some mounts cross a VPN.
NFS_OPTIONS = [
    *("nfsvers=4.2", "hard", "proto=tcp", "nconnect=4", "rsize=1048576", "wsize=1048576"),
    *("timeo=600", "retrans=2", "noatime"),
]


class Nfs(NamedTuple):
    """What serves the shares at a site; `server` is an address or a name."""

    site: str
    server: str


class FileSystem(NamedTuple):
    """EFS of a region: handles by share and by person, and the address at which other places mount it.

    A handle is FILESYSTEM::ACCESSPOINT: a text, or in a program an output that will be one.
    """

    region: str
    shares: Mapping[str, Any]
    homes: Mapping[str, Any]
    address: str


class OnNfs(NamedTuple):
    """A folder of a site's server."""

    site: str
    server: str
    path: str


class OnEfs(NamedTuple):
    """An access point; `address` is empty for those who mount by the file system's name, which is best."""

    region: str
    handle: Any
    address: str


Source = OnNfs | OnEfs


def nfs(fleet: Fleet, cluster: str) -> Nfs | None:
    """The site's server that has the cluster's shares, if any has."""
    site = serving_site(fleet, cluster)
    host = fleet.sites[site].nfs if site else None
    if not site or not host:
        return None
    return Nfs(site, fleet.sites[site].hosts[host].address or f"{host}.{site}.{fleet.domain}")


def home(region: str, known: Mapping[str, FileSystem]) -> FileSystem:
    """Of a cluster in `region`: its own file system, or the first where there is one."""
    return known[region if region in known else min(known)]


def source(
    fleet: Fleet, server: Nfs | None, files: FileSystem | None, places: Collection[str], share: str, person: str = ""
) -> Source:
    """Of a share, or of a person's home in share `homes`, for machines in `places`, which are regions and sites."""
    if server:
        path = home_path(fleet, person) if person else fleet.storage.shares[share].path.rstrip("/")
        return OnNfs(server.site, server.server, path)
    assert files is not None
    # Its name resolves in its own network alone: places elsewhere mount it by an address of the plan.
    address = files.address if set(places) - {files.region} else ""
    return OnEfs(files.region, files.homes[person] if person else files.shares[share], address)
