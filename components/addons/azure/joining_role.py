"""What the service that lets machines join may do in Azure, as plain data: look at its machines.

One identity a cluster, which a service account of the cluster's is trusted as, so that API machines of either cloud can
ask. Azure vouches for a machine's number, and these looks say in which scale set it is.
"""

import uuid
from typing import Any, NamedTuple

from fleet import joining, laptops
from fleet.azure import ids
from fleet.azure.ids import subscription
from fleet.buckets import in_azure, resource_group
from fleet.model import Fleet

from ..owners import of_cluster
from .autoscaler_role import IDENTITY_NAME, SETS, home
from .pod_role import federated

# "Azure permissions for Compute": a set's machines, and their cards, which have the addresses.
ACTIONS = [f"{SETS}/virtualMachines/read", f"{SETS}/networkInterfaces/read"]
# The same of machines by themselves: the servers for laptops.
ALONE = ["Microsoft.Compute/virtualMachines/read", "Microsoft.Network/networkInterfaces/read"]


class Grant(NamedTuple):
    """`name` is a GUID that follows from what it is."""

    region: str
    name: str
    scope: str


def regions(fleet: Fleet, cluster: str) -> list[str]:
    """Of Azure, with nodes of the cluster."""
    return joining.regions(fleet, cluster, "azure")


def actions(fleet: Fleet, cluster: str) -> list[str]:
    return [*ACTIONS, *(ALONE if _with_servers(fleet, cluster) else ())]


def _with_servers(fleet: Fleet, cluster: str) -> list[str]:
    return [name for name in laptops.regions(fleet, cluster) if in_azure(fleet, name)]


def identity(fleet: Fleet, cluster: str) -> dict[str, Any]:
    """Name and place."""
    region = home(fleet, cluster)
    return {
        "resource_name_": of_cluster(fleet, cluster).name("joining", IDENTITY_NAME),
        "resource_group_name": resource_group(fleet, region),
        "location": region,
    }


def federation(fleet: Fleet, cluster: str) -> dict[str, Any]:
    """Whose tokens it takes."""
    return federated(fleet, cluster, joining.SUBJECT)


def role_id(fleet: Fleet, cluster: str) -> str:
    """The same in every run: Azure wants a GUID that its caller chooses."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{subscription(fleet)}/{fleet.fleet}/{cluster}/joining"))


def definition_id(fleet: Fleet, cluster: str) -> str:
    return ids.role(fleet, role_id(fleet, cluster))


def role_name(fleet: Fleet, cluster: str) -> str:
    """Unique in the tenant, which may have several subscriptions with a fleet of that name."""
    return f"{of_cluster(fleet, cluster).name('joining', 400)} {subscription(fleet).rpartition('/')[2]}"


def grants(fleet: Fleet, cluster: str) -> list[Grant]:
    """One a region: a new pool there, and a new scale set, need no other."""
    scopes = {name: f"{subscription(fleet)}/resourceGroups/{resource_group(fleet, name)}" for name in fleet.regions}
    return [
        Grant(name, str(uuid.uuid5(uuid.NAMESPACE_URL, f"{role_id(fleet, cluster)}{scopes[name]}")), scopes[name])
        for name in regions(fleet, cluster)
    ]
