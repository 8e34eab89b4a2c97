"""A server as a node of a cluster: so it is an end of the pods' overlay, and laptops reach pods both ways.

No pool of the fleet file: nothing is scheduled there, and the autoscaler knows nothing of it.
"""

from components.control_plane.machines import cluster_spec
from components.pools.joining import Joining
from components.pools.spec import LAPTOPS, Hardware, PoolSpec, dns_address, server_of
from components.tags import Owner
from fleet import laptops
from fleet.address.plan import AddressPlan
from fleet.model import Fleet

# A few hundred megabits a second of AES in user space, of laptops that are rarely busy all at once.
INSTANCE_TYPE = "c7i.large"
# AWS's bounds (IAM, "Name requirements"; CreateAutoScalingGroup).
ROLE, GROUP = 64, 255


def owner(fleet: Fleet, region: str) -> Owner:
    return Owner(fleet.fleet, fleet.owner, laptops.stack(region))


def node_spec(fleet: Fleet, plan: AddressPlan, region: str, server: str, zone: str) -> PoolSpec:
    """As its kubelet sees it. Raises KeyError for a region that has no servers."""
    name = laptops.cluster(fleet, region) or ""
    cluster = cluster_spec(fleet, plan, name)
    return PoolSpec(
        fleet=fleet.fleet,
        cluster=name,
        name=laptops.machine(region, server),
        kind=LAPTOPS,
        owner=fleet.owner,
        place=region,
        site=False,
        zones=(zone,),
        hardware=Hardware(0, None, INSTANCE_TYPE),
        hosts=(),
        most=1,
        kubernetes=cluster.kubernetes,
        server=server_of(cluster),
        dns_address=dns_address(cluster),
        pods_cidr=cluster.pods_cidr,
    )


def joining(fleet: Fleet, cluster: str) -> tuple[Joining, ...]:
    """Who may join a cluster as one."""
    return tuple(
        Joining(
            laptops.machine(region, server),
            region,
            site=False,
            gpus=0,
            role=owner(fleet, region).name(server, ROLE),
            groups=(owner(fleet, region).name(server, GROUP),),
        )
        for region in laptops.regions(fleet, cluster)
        for server in laptops.servers(fleet, region)
    )
