"""What a team's pods may do in Azure, as plain data: the team's own folder of each fleet bucket in Blob, and no more
than to read what recorders saw of the team.

As in AWS (aws/team_roles.py) it is for one service account of one cluster, whose issuer vouches for it. A condition
that names no path for an action ends that action.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from components.storage.azure.spec import CONTAINER, role_assignment
from fleet import recorder, team_storage
from fleet.azure import ids
from fleet.azure.ids import subscription
from fleet.buckets import bucket_name, in_azure, resource_group
from fleet.model import Fleet

from ..owners import of_team
from .autoscaler_role import IDENTITY_NAME
from .pod_role import federated

# "Azure built-in roles": Storage Blob Data Contributor.
CONTRIBUTOR = ids.BLOB_CONTRIBUTOR
BLOBS = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs"
LISTS = "SubOperationMatches{'Blob.List'}"


class Grant(NamedTuple):
    """`name` is a GUID that follows from what it is."""

    region: str
    name: str
    role: str
    scope: str
    condition: str


def regions(fleet: Fleet, cluster: str) -> list[str]:
    """Those of Azure that the cluster is at home or has nodes in: Azure gives no role on what may not be there."""
    pools = [pool for pool in fleet.pools.values() if pool.cluster == cluster and pool.kind != "ssh"]
    found = {fleet.clusters[cluster].region, *(pool.region for pool in pools if pool.region)}
    return sorted(name for name in found if in_azure(fleet, name))


def home(fleet: Fleet, cluster: str) -> str:
    """The region whose resource group has the identities: the cluster's own, or its first with nodes."""
    region, known = fleet.clusters[cluster].region, regions(fleet, cluster)
    return region if region in known else known[0]


def identity_name(fleet: Fleet, cluster: str, team: str) -> str:
    return of_team(fleet, cluster, team).name(f"{team_storage.ACCOUNT}-{team}", IDENTITY_NAME)


def federation(fleet: Fleet, cluster: str, team: str) -> dict[str, Any]:
    """Whose tokens the identity takes: those of the team's service account in this cluster."""
    return federated(fleet, cluster, team_storage.subject(team))


def grants(fleet: Fleet, cluster: str, team: str) -> list[Grant]:
    """One a region."""
    return [
        Grant(
            region,
            role_assignment(fleet, region, f"{cluster}/{team}/{team_storage.FOLDER}"),
            ids.role(fleet, CONTRIBUTOR),
            container(fleet, region),
            condition(team),
        )
        for region in regions(fleet, cluster)
    ]


def container(fleet: Fleet, region: str) -> str:
    group = f"{subscription(fleet)}/resourceGroups/{resource_group(fleet, region)}"
    account = f"{group}/providers/Microsoft.Storage/storageAccounts/{bucket_name(fleet, region)}"
    return f"{account}/blobServices/default/containers/{CONTAINER}"


def condition(team: str) -> str:
    return within([f"{team_storage.FOLDER}/{team}/*"], [recorder.read_by(team)])


def within(written: Sequence[str], read: Sequence[str]) -> str:
    """To read, write, delete and list paths of the first patterns, and to read and list those of the others ("Azure
    role assignment condition format").
    """
    path, prefix = f"@Resource[{BLOBS}:path]", f"@Request[{BLOBS}:prefix]"
    own, seen, listed = _fits(path, written), _fits(path, [*written, *read]), _fits(prefix, [*written, *read])
    reads = _matches("read")
    acts = " AND ".join(f"(!({_matches(action)}) OR {own})" for action in ("write", "add/action", "delete"))
    return (
        f"(!({reads} AND NOT {LISTS}) OR {seen}) AND (!({reads} AND {LISTS}) OR {listed})"
        f" AND {acts} AND !({_matches('move/action')})"
    )


def _fits(attribute: str, patterns: Sequence[str]) -> str:
    found = " OR ".join(f"{attribute} StringLike '{pattern}'" for pattern in patterns)
    return f"({found})" if len(patterns) > 1 else found


def _matches(action: str) -> str:
    return f"ActionMatches{{'{BLOBS}/{action}'}}"
