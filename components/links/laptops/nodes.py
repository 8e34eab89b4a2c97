"""A server as a node of a cluster: so it is an end of the pods' overlay, and laptops reach pods both ways.

No pool of the fleet file: nothing is scheduled there, and the autoscaler knows nothing of it.
"""

from collections.abc import Mapping

from components.control_plane.machines import cluster_spec
from components.pools.joining import Joining
from components.pools.names import AZURE_SET
from components.pools.spec import LAPTOPS, Hardware, PoolSpec, dns_address, server_of
from components.tags import Owner
from fleet import laptops
from fleet.address.plan import AddressPlan
from fleet.buckets import in_azure
from fleet.model import Cloud, Fleet

# A few hundred megabits a second of AES in user space, of laptops that are rarely busy all at once.
INSTANCE_TYPES: Mapping[Cloud, str] = {"aws": "c7i.large", "azure": "Standard_D2s_v5"}
# AWS's bounds (IAM, "Name requirements"; CreateAutoScalingGroup).
ROLE, GROUP = 64, 255


def owner(fleet: Fleet, region: str) -> Owner:
    return Owner(fleet.fleet, fleet.owner, laptops.stack(region))


def node_spec(fleet: Fleet, plan: AddressPlan, region: str, server: str, zone: str) -> PoolSpec:
    """As its kubelet sees it. Raises KeyError for a region that has no servers."""
    name = laptops.cluster(fleet, region) or ""
    cluster, cloud = cluster_spec(fleet, plan, name), fleet.regions[region].cloud
    return PoolSpec(
        fleet=fleet.fleet,
        cluster=name,
        name=laptops.machine(region, server),
        kind=LAPTOPS,
        owner=fleet.owner,
        place=region,
        site=False,
        zones=(zone,),
        hardware=Hardware(0, None, INSTANCE_TYPES[cloud]),
        hosts=(),
        most=1,
        kubernetes=cluster.kubernetes,
        server=server_of(cluster),
        dns_address=dns_address(cluster),
        pods_cidr=cluster.pods_cidr,
        cloud=cloud,
    )


def group(fleet: Fleet, region: str, server: str) -> str:
    """The scaling group of one that keeps a server alive; on Azure the virtual machine by itself.

    Azure's is as short as a scale set's, for its computer is called alike: see azure/server.py.
    """
    return owner(fleet, region).name(server, AZURE_SET if in_azure(fleet, region) else GROUP)


def joining(fleet: Fleet, cluster: str) -> tuple[Joining, ...]:
    """Who may join a cluster as one."""
    return tuple(
        _joining(fleet, region, server)
        for region in laptops.regions(fleet, cluster)
        for server in laptops.servers(fleet, region)
    )


def _joining(fleet: Fleet, region: str, server: str) -> Joining:
    one = Joining(laptops.machine(region, server), region, site=False, gpus=0, groups=(group(fleet, region, server),))
    if in_azure(fleet, region):
        return one._replace(cloud="azure", alone=True)
    return one._replace(role=owner(fleet, region).name(server, ROLE))
