"""A cluster as its add-ons see it: its pools, the places they stand in, and what serves the shares there."""

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Any, NamedTuple

from components.control_plane.machines import ClusterSpec, cluster_spec
from components.pools import joining
from components.pools.names import Names
from components.pools.spec import DNS_ADDRESS, PoolSpec, pool_spec
from fleet.address.plan import AddressPlan
from fleet.model import Fleet

# Share → FILESYSTEM::ACCESSPOINT of EFS: a text, or in a program the output that will be one.
Handles = Mapping[str, Any]


class Nfs(NamedTuple):
    """What serves the shares at a site; `server` is an address or a name."""

    site: str
    server: str


class AddOnsSpec(NamedTuple):
    """`pools` are those with nodes. `file_systems` are AWS regions' shares by region, outputs of their stacks, and
    `mount_addresses` where one mounts them from elsewhere. `joining` are the pools as machines join them.
    """

    fleet: Fleet
    cluster: ClusterSpec
    pools: tuple[PoolSpec, ...]
    nfs: Nfs | None
    file_systems: Mapping[str, Handles]
    mount_addresses: Mapping[str, str]
    joining: tuple[joining.Joining, ...]

    @property
    def sites(self) -> tuple[str, ...]:
        return tuple(sorted({pool.place for pool in self.pools if pool.site}))

    @property
    def regions(self) -> tuple[str, ...]:
        return tuple(sorted({pool.place for pool in self.pools if not pool.site}))

    @property
    def aws_regions(self) -> tuple[str, ...]:
        return tuple(name for name in self.regions if self.fleet.regions[name].cloud == "aws")

    def service_address(self, number: int = DNS_ADDRESS) -> str:
        """An address of the services' range: the tenth is DNS, which every kubelet tells its pods."""
        return str(IPv4Network(self.cluster.services_cidr)[number])


def addons_spec(
    fleet: Fleet, plan: AddressPlan, cluster: str, file_systems: Mapping[str, Handles] | None = None
) -> AddOnsSpec:
    found = tuple(
        pool_spec(fleet, plan, name)
        for name, pool in sorted(fleet.pools.items())
        if pool.cluster == cluster and pool.kind != "ssh"
    )
    handles = file_systems or {}
    zones = {region: plan.region(region).zones for region in handles}
    names = Names(fleet)
    return AddOnsSpec(
        fleet,
        cluster_spec(fleet, plan, cluster),
        found,
        _nfs(fleet, found),
        handles,
        {region: zones[region][min(zones[region])].addresses["shares"] for region in handles},
        joining.pools(fleet, plan, cluster, names.role, names.groups),
    )


def _nfs(fleet: Fleet, pools: tuple[PoolSpec, ...]) -> Nfs | None:
    """Of several sites that serve NFS the first: a share is one thing, wherever it is mounted."""
    for site in sorted({pool.place for pool in pools if pool.site}):
        if host := fleet.sites[site].nfs:
            address = fleet.sites[site].hosts[host].address
            return Nfs(site, address or f"{host}.{site}.{fleet.domain}")
    return None
