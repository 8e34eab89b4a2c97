"""What the autoscaler's cloud side may do in Azure, as plain data: look at scale sets, and size its own.

One identity for one service account of one cluster, whose issuer vouches for it. Azure's roles know no tags, so what it
may change is listed: each scale set of the cluster's pools. A scale set's size is part of itself, and who may write it
may write its model, too; that it starts nothing else is the service's doing (services/autoscaler/azure/cloud.py).
"""

import uuid
from typing import Any, NamedTuple

from components.pools.names import Names
from fleet import autoscaler
from fleet.azure import ids
from fleet.azure.ids import subscription as subscription
from fleet.buckets import resource_group
from fleet.model import Fleet

from ..owners import of_cluster
from .pod_role import federated

IDENTITY_NAME = 128  # Azure's bound ("Naming rules", Microsoft.ManagedIdentity)
SETS = "Microsoft.Compute/virtualMachineScaleSets"
# Kind of scope → what may be done there ("Azure permissions for Compute").
ROLES: dict[str, list[str]] = {
    "subscription": ["Microsoft.Compute/locations/usages/read", "Microsoft.Compute/locations/operations/read"],
    "region": [
        f"{SETS}/read",
        f"{SETS}/instanceView/read",
        f"{SETS}/virtualMachines/read",
        f"{SETS}/virtualMachines/instanceView/read",
    ],
    "pool": [f"{SETS}/write", f"{SETS}/delete/action"],
}
WHY = {
    "subscription": "see quotas and how operations went",
    "region": "see scale sets and their machines",
    "pool": "size a scale set and end machines of it",
}


class Grant(NamedTuple):
    """`role` is a key of ROLES."""

    role: str
    scope: str


def identity_name(fleet: Fleet, cluster: str) -> str:
    return of_cluster(fleet, cluster).name("autoscaler", IDENTITY_NAME)


def home(fleet: Fleet, cluster: str) -> str:
    """The region whose resource group has the identity: the cluster's own, or the first with pools of it."""
    region = fleet.clusters[cluster].region
    return region if fleet.regions[region].cloud == "azure" else autoscaler.regions(fleet, cluster, "azure")[0]


def federation(fleet: Fleet, cluster: str) -> dict[str, Any]:
    """Whose tokens the identity takes: those of the autoscaler's service account in this cluster."""
    return federated(fleet, cluster, autoscaler.SUBJECT)


def role_id(fleet: Fleet, cluster: str, role: str) -> str:
    """The same in every run: Azure wants a GUID that its caller chooses."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{subscription(fleet)}/{fleet.fleet}/{cluster}/autoscaler/{role}"))


def definition_id(fleet: Fleet, cluster: str, role: str) -> str:
    """Where the role is defined, as assignments name it."""
    return ids.role(fleet, role_id(fleet, cluster, role))


def assignment_id(fleet: Fleet, cluster: str, grant: Grant) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{role_id(fleet, cluster, grant.role)}{grant.scope}"))


def grants(fleet: Fleet, cluster: str) -> list[Grant]:
    """Of the widest scope first."""
    places = {name: f"{subscription(fleet)}/resourceGroups/{resource_group(fleet, name)}" for name in fleet.regions}
    names = Names(fleet)
    sets = [
        Grant("pool", f"{places[str(pool.region)]}/providers/{SETS}/{group}")
        for name, pool in autoscaler.pools(fleet, cluster, "azure").items()
        for group in names.groups(name)
    ]
    regions = [Grant("region", places[name]) for name in autoscaler.regions(fleet, cluster, "azure")]
    return [Grant("subscription", subscription(fleet)), *regions, *sets]
