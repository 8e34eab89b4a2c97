"""What the reader of fleet metrics may do in Azure, as plain data: the same as in AWS (aws/fleet_metrics_role.py).

A condition leaves of a role that reads blobs the list of their names; keys of connections are another right.
"""

import uuid
from typing import Any

from components.storage.azure.spec import role_assignment
from fleet import fleet_metrics
from fleet.azure import ids
from fleet.buckets import in_azure, resource_group
from fleet.model import Fleet

from ..owners import of_cluster
from .autoscaler_role import IDENTITY_NAME
from .pod_role import federated
from .team_roles import Grant, container
from .team_roles import home as home

CONNECTIONS = "Microsoft.Network/connections"
LOOKS = [f"{CONNECTIONS}/read"]


def wanted(fleet: Fleet, cluster: str) -> bool:
    return in_azure(fleet, fleet.clusters[cluster].region) or bool(fleet_metrics.linked(fleet, cluster, "azure"))


def identity_name(fleet: Fleet, cluster: str) -> str:
    return of_cluster(fleet, cluster).name("fleet-metrics", IDENTITY_NAME)


def federation(fleet: Fleet, cluster: str) -> dict[str, Any]:
    """Whose tokens the identity takes: those of the service account in this cluster."""
    return federated(fleet, cluster, fleet_metrics.SUBJECT)


def group(fleet: Fleet, region: str) -> str:
    return f"{ids.subscription(fleet)}/resourceGroups/{resource_group(fleet, region)}"


def connection(fleet: Fleet, region: str, name: str) -> str:
    return f"{group(fleet, region)}/providers/{CONNECTIONS}/{name}"


def role_id(fleet: Fleet, cluster: str) -> str:
    """The same in every run: Azure wants a GUID that its caller chooses."""
    what = f"{ids.subscription(fleet)}/{fleet.fleet}/{cluster}/{fleet_metrics.ACCOUNT}"
    return str(uuid.uuid5(uuid.NAMESPACE_URL, what))


def lists(fleet: Fleet, cluster: str) -> list[Grant]:
    """Of snapshots; none for a cluster at home elsewhere."""
    return [
        Grant(
            one.region,
            role_assignment(fleet, one.region, f"{cluster}/{fleet_metrics.ACCOUNT}/{one.where}"),
            ids.role(fleet, ids.BLOB_READER),
            container(fleet, one.region),
            fleet_metrics.condition(one.prefix),
        )
        for one in fleet_metrics.folders(fleet, cluster)
        if in_azure(fleet, one.region)
    ]


def looks(fleet: Fleet, cluster: str) -> list[Grant]:
    """Of connections, by a role of the stack's own: one for each region."""
    role = role_id(fleet, cluster)
    return [
        Grant(region, str(uuid.uuid5(uuid.UUID(role), region)), ids.role(fleet, role), group(fleet, region), "")
        for region in fleet_metrics.linked(fleet, cluster, "azure")
    ]
