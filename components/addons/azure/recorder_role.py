"""What the recorder may do in Azure, as plain data: the same as in AWS (aws/recorder_role.py), by a condition.

One identity for one service account of one cluster, whose issuer vouches for it. Only of a cluster that is at home in
Azure: elsewhere the bucket is another cloud's.
"""

from typing import Any

from components.storage.azure.spec import role_assignment
from components.storage.places import AUDIT
from fleet import issuers, recorder
from fleet.azure import ids
from fleet.model import Fleet

from ..owners import of_cluster
from .autoscaler_role import IDENTITY_NAME
from .pod_role import AUDIENCE
from .team_roles import CONTRIBUTOR, Grant, container, within


def identity_name(fleet: Fleet, cluster: str) -> str:
    return of_cluster(fleet, cluster).name("recorder", IDENTITY_NAME)


def federation(fleet: Fleet, cluster: str) -> dict[str, Any]:
    """Whose tokens the identity takes: those of the recorder's service account in this cluster."""
    issuer = issuers.url(fleet, cluster)
    return {"issuer": issuer, "subject": recorder.SUBJECT, "audiences": [AUDIENCE]}


def grant(fleet: Fleet, cluster: str) -> Grant:
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
