"""Where a cluster's shares come from, for pods and for machines of kind ssh alike: one decision, three ways to mount.

A site's NFS server if the cluster has nodes at one, else what its home region has: EFS, or Azure Files.
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from fleet.buckets import shares_account
from fleet.model import Fleet
from fleet.shares import HOMES, home_path, serving_site

# Never soft: a write that gives up is lost. Four connections, as some mounts cross a VPN, and as Azure advises.
_SURE = [
    *("hard", "proto=tcp", "nconnect=4", "rsize=1048576", "wsize=1048576"),
    *("timeo=600", "retrans=2", "noatime"),
]
NFS_OPTIONS = ["nfsvers=4.2", *_SURE]
# Azure Files knows no later version ("NFS Azure file shares").
FILES_OPTIONS = ["nfsvers=4.1", *_SURE]
# Where Azure has the names of accounts; in a region's network they lead to its private endpoint.
FILES_DOMAIN = "file.core.windows.net"


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

    def near(self, share: str, person: str = "") -> "OnEfs":
        """For machines of the region: by the file system's name, which resolves in its own network alone."""
        return OnEfs(self.region, self.homes[person] if person else self.shares[share], "")

    def far(self, share: str, person: str = "") -> "OnEfs":
        """For machines of any place: by an address of the plan."""
        return self.near(share, person)._replace(address=self.address)


class Files(NamedTuple):
    """Azure Files of a region: shares over NFS, and the address of their private endpoint. Homes are folders of one."""

    region: str
    account: str
    address: str

    def near(self, share: str, person: str = "") -> "OnFiles":
        """For machines of the region: by the account's name, which resolves in its own network alone."""
        return OnFiles(self.region, f"{self.account}.{FILES_DOMAIN}", self._path(share, person))

    def far(self, share: str, person: str = "") -> "OnFiles":
        """For machines of any place: by an address of the plan."""
        return OnFiles(self.region, self.address, self._path(share, person))

    def _path(self, share: str, person: str) -> str:
        return f"/{self.account}/{HOMES}/{person}" if person else f"/{self.account}/{share}"


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


class OnFiles(NamedTuple):
    """A share of Azure Files, or a folder of it; `server` is a name or an address, `path` begins with the account."""

    region: str
    server: str
    path: str


Source = OnNfs | OnEfs | OnFiles
RegionFiles = FileSystem | Files


def nfs(fleet: Fleet, cluster: str) -> Nfs | None:
    """The site's server that has the cluster's shares, if any has."""
    site = serving_site(fleet, cluster)
    host = fleet.sites[site].nfs if site else None
    if not site or not host:
        return None
    return Nfs(site, fleet.sites[site].hosts[host].address or f"{host}.{site}.{fleet.domain}")


def files_of(fleet: Fleet, region: str, address: str) -> Files:
    """Of a region in Azure, where names and the plan say it all; `address` is the plan's of its shares."""
    return Files(region, shares_account(fleet, region), address)


def home(region: str, known: Mapping[str, RegionFiles]) -> RegionFiles:
    """Of a cluster in `region`: its own file system, or the first where there is one."""
    return known[region if region in known else min(known)]


def source(
    fleet: Fleet, server: Nfs | None, files: RegionFiles | None, places: Collection[str], share: str, person: str = ""
) -> Source:
    """Of a share, or of a person's home in share `homes`, for machines in `places`, which are regions and sites."""
    if server:
        path = home_path(fleet, person) if person else fleet.storage.shares[share].path.rstrip("/")
        return OnNfs(server.site, server.server, path)
    assert files is not None
    return files.far(share, person) if set(places) - {files.region} else files.near(share, person)
