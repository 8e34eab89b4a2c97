"""What the reader of fleet metrics may do in Azure, as plain data: the same as in AWS (aws/fleet_metrics_role.py).

A condition leaves of a role that reads blobs the list of their names; keys of connections are another right.
"""

import uuid
from typing import Any, NamedTuple

from components.storage.azure.spec import role_assignment
from components.tags import Owner
from fleet import autoscaler, fleet_metrics
from fleet.azure import ids
from fleet.buckets import in_azure, resource_group, shares_account
from fleet.model import Fleet

from ..owners import of_cluster
from .autoscaler_role import IDENTITY_NAME
from .pod_role import federated
from .team_roles import Grant, container
from .team_roles import home as home

CONNECTIONS = "Microsoft.Network/connections"
SHARES = "Microsoft.Storage/storageAccounts/fileServices/shares"
GATEWAYS = "Microsoft.Network/virtualNetworkGateways"
SETS = "Microsoft.Compute/virtualMachineScaleSets"
# A role of the stack's own for each kind of scope. Quotas are the subscription's ("Azure permissions for Compute"), and
# the gallery of images may not be there yet.
LINKS, BGP, QUOTAS, POOLS, FILES = "links", "bgp", "quotas", "pools", "files"
ROLES = {
    LINKS: [f"{CONNECTIONS}/read"],
    # Whoever may ask a gateway itself may act on it.
    BGP: ["Microsoft.Insights/metrics/read"],
    QUOTAS: ["Microsoft.Compute/locations/usages/read", "Microsoft.Compute/galleries/images/versions/read"],
    POOLS: [f"{SETS}/read"],
    FILES: [f"{SHARES}/read"],
}
WHY = {
    LINKS: "tell how VPN connections are",
    BGP: "tell what is measured of VPN gateways",
    QUOTAS: "tell quotas, what of them is used, and how old images are",
    POOLS: "tell which images scale sets start from",
    FILES: "tell what shares hold",
}


class Look(NamedTuple):
    """`role` is a key of ROLES, `where` the region or the subscription that it is about; `name` is a GUID."""

    role: str
    where: str
    name: str
    scope: str


def wanted(fleet: Fleet, cluster: str) -> bool:
    return in_azure(fleet, fleet.clusters[cluster].region) or bool(looks(fleet, cluster))


def identity_name(fleet: Fleet, cluster: str) -> str:
    return of_cluster(fleet, cluster).name("fleet-metrics", IDENTITY_NAME)


def federation(fleet: Fleet, cluster: str) -> dict[str, Any]:
    """Whose tokens the identity takes: those of the service account in this cluster."""
    return federated(fleet, cluster, fleet_metrics.SUBJECT)


def group(fleet: Fleet, region: str) -> str:
    return f"{ids.subscription(fleet)}/resourceGroups/{resource_group(fleet, region)}"


def connection(fleet: Fleet, region: str, name: str) -> str:
    return f"{group(fleet, region)}/providers/{CONNECTIONS}/{name}"


def gateway(fleet: Fleet, region: str) -> str:
    """The region's hub: components/network/azure/hub.py, in the stack of the region."""
    return f"{group(fleet, region)}/providers/{GATEWAYS}/{Owner(fleet.fleet, fleet.owner, region).name('hub', 80)}"


def scale_set(fleet: Fleet, region: str, name: str) -> str:
    return f"{group(fleet, region)}/providers/{SETS}/{name}"


def shares(fleet: Fleet, region: str) -> str:
    """The account of them."""
    return f"{group(fleet, region)}/providers/Microsoft.Storage/storageAccounts/{shares_account(fleet, region)}"


def share(fleet: Fleet, region: str, name: str) -> str:
    return f"{shares(fleet, region)}/fileServices/default/shares/{name}"


def usages(fleet: Fleet, region: str) -> str:
    """Azure's list of a region's quotas, with what of them is used."""
    return f"{ids.subscription(fleet)}/providers/Microsoft.Compute/locations/{region}/usages"


def role_id(fleet: Fleet, cluster: str, role: str = LINKS) -> str:
    """The same in every run: Azure wants a GUID that its caller chooses."""
    what = f"{ids.subscription(fleet)}/{fleet.fleet}/{cluster}/{fleet_metrics.ACCOUNT}"
    return str(uuid.uuid5(uuid.NAMESPACE_URL, what if role == LINKS else f"{what}/{role}"))


def lists(fleet: Fleet, cluster: str) -> list[Grant]:
    """Of snapshots and of tested restores; none for a cluster at home elsewhere."""
    where = {one.region: one.where for one in fleet_metrics.snapshots(fleet, cluster)}
    return [
        Grant(
            region,
            role_assignment(fleet, region, f"{cluster}/{fleet_metrics.ACCOUNT}/{where[region]}"),
            ids.role(fleet, ids.BLOB_READER),
            container(fleet, region),
            fleet_metrics.condition(*prefixes),
        )
        for region, prefixes in fleet_metrics.listed(fleet, cluster).items()
        if in_azure(fleet, region)
    ]


def looks(fleet: Fleet, cluster: str) -> list[Look]:
    """By roles of the stack's own: in each region with links or with pools, and in the subscription."""
    pools = autoscaler.regions(fleet, cluster, "azure")
    found = [
        *((LINKS, region, group(fleet, region)) for region in fleet_metrics.linked(fleet, cluster, "azure")),
        *((BGP, region, gateway(fleet, region)) for region in fleet_metrics.linked(fleet, cluster, "azure")),
        *((POOLS, region, group(fleet, region)) for region in pools),
        *([(QUOTAS, "subscription", ids.subscription(fleet))] if pools else []),
        *((FILES, region, shares(fleet, region)) for region in fleet_metrics.filed(fleet, cluster, "azure")),
    ]
    return [
        Look(role, where, str(uuid.uuid5(uuid.UUID(role_id(fleet, cluster, role)), where)), scope)
        for role, where, scope in found
    ]
