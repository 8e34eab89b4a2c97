"""A cluster as its add-ons see it: its pools, the places they stand in, and what serves the shares there."""

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import NamedTuple

from components.control_plane.machines import ClusterSpec, cluster_spec
from components.links.azure.connections import OtherEnd, of_sites
from components.links.laptops import nodes
from components.pools import joining
from components.pools.names import Names
from components.pools.spec import DNS_ADDRESS, PoolSpec, pool_spec
from components.storage.mounts import Nfs, RegionFiles, nfs
from fleet.address.plan import AddressPlan
from fleet.model import Cloud, Fleet


class AddOnsSpec(NamedTuple):
    """`pools` are those with nodes. `file_systems` are shares by region; those of AWS are outputs of stacks.
    `joining` are the pools as machines join them, and the servers for laptops. `peers` are sites' gateways as those of
    Azure know them.
    """

    fleet: Fleet
    cluster: ClusterSpec
    pools: tuple[PoolSpec, ...]
    nfs: Nfs | None
    file_systems: Mapping[str, RegionFiles]
    joining: tuple[joining.Joining, ...]
    peers: tuple[OtherEnd, ...]

    @property
    def sites(self) -> tuple[str, ...]:
        return tuple(sorted({pool.place for pool in self.pools if pool.site}))

    @property
    def regions(self) -> tuple[str, ...]:
        return tuple(sorted({pool.place for pool in self.pools if not pool.site}))

    @property
    def aws_regions(self) -> tuple[str, ...]:
        return self._in("aws")

    @property
    def azure_regions(self) -> tuple[str, ...]:
        return self._in("azure")

    def _in(self, cloud: Cloud) -> tuple[str, ...]:
        return tuple(name for name in self.regions if self.fleet.regions[name].cloud == cloud)

    def service_address(self, number: int = DNS_ADDRESS) -> str:
        """An address of the services' range: the tenth is DNS, which every kubelet tells its pods."""
        return str(IPv4Network(self.cluster.services_cidr)[number])


def addons_spec(
    fleet: Fleet, plan: AddressPlan, cluster: str, file_systems: Mapping[str, RegionFiles] | None = None
) -> AddOnsSpec:
    found = tuple(
        pool_spec(fleet, plan, name)
        for name, pool in sorted(fleet.pools.items())
        if pool.cluster == cluster and pool.kind != "ssh"
    )
    names = Names(fleet)
    return AddOnsSpec(
        fleet,
        cluster_spec(fleet, plan, cluster),
        found,
        nfs(fleet, cluster),
        file_systems or {},
        (*joining.pools(fleet, plan, cluster, names.role, names.groups), *nodes.joining(fleet, cluster)),
        of_sites(fleet, plan),
    )
