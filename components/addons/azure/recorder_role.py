"""What the recorder may do in Azure, as plain data: the same as in AWS (aws/recorder_role.py), by a condition.

One identity for one service account of one cluster, whose issuer vouches for it. Of a cluster that is at home in Azure
it writes there; of one that has machines in Azure it reads what became of them, wherever that is at home.
"""

import uuid
from typing import Any

from components.storage.azure.spec import role_assignment
from components.storage.places import AUDIT
from fleet import autoscaler, recorder
from fleet.azure import ids
from fleet.buckets import in_azure, resource_group
from fleet.model import Fleet

from ..owners import of_cluster
from . import autoscaler_role
from .autoscaler_role import IDENTITY_NAME
from .pod_role import federated
from .team_roles import CONTRIBUTOR, Grant, container, within

# The log is the subscription's, and whoever reads it reads all of it ("Azure permissions for Microsoft.Insights").
LOOKS = ["Microsoft.Insights/eventtypes/values/read"]


def wanted(fleet: Fleet, cluster: str) -> bool:
    return in_azure(fleet, fleet.clusters[cluster].region) or bool(machines(fleet, cluster))


def machines(fleet: Fleet, cluster: str) -> list[str]:
    """Ids of the resource groups that have machines of the cluster's."""
    groups = (resource_group(fleet, region) for region in autoscaler.regions(fleet, cluster, "azure"))
    return [f"{ids.subscription(fleet)}/resourceGroups/{group}" for group in groups]


def home(fleet: Fleet, cluster: str) -> str:
    return autoscaler_role.home(fleet, cluster)


def identity_name(fleet: Fleet, cluster: str) -> str:
    return of_cluster(fleet, cluster).name("recorder", IDENTITY_NAME)


def federation(fleet: Fleet, cluster: str) -> dict[str, Any]:
    """Whose tokens the identity takes: those of the recorder's service account in this cluster."""
    return federated(fleet, cluster, recorder.SUBJECT)


def role_id(fleet: Fleet, cluster: str) -> str:
    """The same in every run: Azure wants a GUID that its caller chooses."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{ids.subscription(fleet)}/{fleet.fleet}/{cluster}/recorder"))


def assignment_id(fleet: Fleet, cluster: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{role_id(fleet, cluster)}/assignment"))


def grant(fleet: Fleet, cluster: str) -> Grant:
    """Of a cluster that is at home in Azure."""
    region = fleet.clusters[cluster].region
    return Grant(
        region,
        role_assignment(fleet, region, f"{cluster}/{recorder.ACCOUNT}/{recorder.RECORDS}"),
        ids.role(fleet, CONTRIBUTOR),
        container(fleet, region),
        condition(cluster),
    )


def condition(cluster: str) -> str:
    return within(recorder.written(cluster), [f"{AUDIT}/{cluster}/*"])
