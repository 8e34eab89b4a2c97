"""A pool as its machines see it: everything that their files are made from, out of the fleet and its ledger."""

from typing import Literal, NamedTuple

from components.boot.people import Authority, Login, logins
from components.control_plane.machines import API_PORT, ClusterSpec, cluster_spec
from components.storage.mounts import RegionFiles
from fleet import monitoring, shapes
from fleet.address.plan import AddressPlan
from fleet.model import Cloud, Fleet, Host, Pool, PoolKind
from fleet.shapes import Shape

from .mounts import Mount, mounts

# The tenth address of a cluster's services is its DNS, as kubeadm has it.
DNS_ADDRESS = 10
# What a machine with a kubelet may be that no pool of the fleet file has: a server that laptops come in by.
LAPTOPS: Literal["laptops"] = "laptops"
Kind = PoolKind | Literal["laptops"]


class Hardware(NamedTuple):
    """What one machine of the pool has; `model` is the GPU's, `rdma` is InfiniBand or RoCE of a
    site's host, or InfiniBand of a size of Azure; `efa` are network cards with EFA. `size` is None for hosts of sites,
    and for a type that nobody has told.
    """

    gpus: int
    model: str | None
    shape: str
    rdma: bool = False
    efa: int = 0
    size: Shape | None = None


class PoolSpec(NamedTuple):
    """`place` is the region or the site; `zones` are a region's letters, none at a site. CIDRs are the ledger's.

    `logins` are those who may log in by SSH: the owners of a pool of kind ssh, and nobody on nodes. `mounts` are its
    shares, and nothing on nodes, whose pods mount their own. `vouching` is whose certificates let people in, where not
    their keys do; `shown` is what its machines show them then. `cloud` is that which its machines' scripts speak to: at
    a site its cluster's. With `journal` what units of its machines say is kept, too.
    """

    fleet: str
    cluster: str
    name: str
    kind: Kind
    owner: str
    place: str
    site: bool
    zones: tuple[str, ...]
    hardware: Hardware
    hosts: tuple[str, ...]
    most: int
    kubernetes: str
    server: str
    dns_address: str
    pods_cidr: str
    logins: tuple[Login, ...] = ()
    mounts: tuple[Mount, ...] = ()
    vouching: Authority | None = None
    shown: str = ""
    cloud: Cloud = "aws"
    journal: bool = False

    @property
    def prefix(self) -> str:
        """Where the pool's bundle lies in the fleet bucket."""
        return f"{self.fleet}/{self.cluster}/{self.name}"

    def own_prefix(self, host: str) -> str:
        """The same for the bundle of one host alone. on_machine/site_host.py reads pool and host out of it."""
        return f"{self.prefix}/{host}"


def pool_spec(fleet: Fleet, plan: AddressPlan, name: str, files: RegionFiles | None = None) -> PoolSpec:
    """Raises ValueError for hosts that differ: fleet.rules refuses such a pool before.

    `files` are those of the cluster's home, for `mounts` where no site serves them.
    """
    pool = fleet.pools[name]
    people = logins(fleet, pool.owner, homes=True) if pool.kind == "ssh" else ()
    cluster = cluster_spec(fleet, plan, pool.cluster)
    place = pool.region or pool.site
    assert place is not None  # fleet.rules: exactly one of the two
    zones = () if pool.site else tuple(sorted(pool.zones or fleet.regions[place].zones))
    return PoolSpec(
        fleet=fleet.fleet,
        cluster=pool.cluster,
        name=name,
        kind=pool.kind,
        owner=pool.owner,
        place=place,
        site=pool.site is not None,
        zones=zones,
        hardware=_hardware(fleet, name, pool),
        hosts=tuple(pool.hosts),
        most=len(pool.hosts) if pool.site else pool.max,
        kubernetes=cluster.kubernetes,
        server=server_of(cluster),
        dns_address=dns_address(cluster),
        pods_cidr=cluster.pods_cidr,
        logins=people,
        mounts=mounts(fleet, pool.cluster, place, people, files) if pool.kind == "ssh" else (),
        cloud=fleet.regions[pool.region].cloud if pool.region else cluster.cloud,
        journal=monitoring.keeps_logs(fleet),
    )


def _hardware(fleet: Fleet, name: str, pool: Pool) -> Hardware:
    if pool.instance_type:
        known, model = shapes.of_pool(fleet, pool), shapes.gpu(fleet, pool) if pool.gpus else None
        size = Shape(known.cpus, known.memory_gib) if known else None
        fabric = shapes.rdma(fleet, pool), shapes.efa(fleet, pool)
        return Hardware(pool.gpus, model, pool.instance_type, *fabric, size)
    assert pool.site is not None
    hosts: list[Host] = [fleet.sites[pool.site].hosts[host] for host in pool.hosts]
    found = {(host.gpus, host.gpu, host.rdma) for host in hosts}
    if len(found) != 1:
        raise ValueError(f"pool {name}: its hosts differ in GPUs or RDMA, and machines of a pool are alike")
    count, model, rdma = found.pop()
    return Hardware(count, model, f"{model or 'gpu'}-{count}" if count else "cpu", rdma)


def server_of(cluster: ClusterSpec) -> str:
    """Where a kubelet finds the API."""
    return f"https://{cluster.endpoint}:{API_PORT}"


def dns_address(cluster: ClusterSpec) -> str:
    """Of the services' range, whose first is `first_service`."""
    head, _, first = cluster.first_service.rpartition(".")
    return f"{head}.{int(first) - 1 + DNS_ADDRESS}"
