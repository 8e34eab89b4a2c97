"""What the service that lets machines join may do in AWS, as plain data: look at instances in the pools' regions.

Of a cluster that is at home elsewhere: its API machines have no role of AWS's, so a service account of the cluster's
is trusted, as in Azure (azure/joining_role.py). At home in AWS the machines' own role has the same right.
"""

from components.pools.joining import permissions as looks
from fleet import joining
from fleet.buckets import in_azure
from fleet.model import Fleet

from ..owners import of_cluster
from .team_roles import ROLE, Document, arn, trusted


def wanted(fleet: Fleet, cluster: str) -> bool:
    return in_azure(fleet, fleet.clusters[cluster].region) and bool(joining.regions(fleet, cluster, "aws"))


def role_name(fleet: Fleet, cluster: str) -> str:
    return of_cluster(fleet, cluster).name("joining", ROLE)


def role_arn(fleet: Fleet, cluster: str) -> str:
    """Known before there is a role: the table of pools has it."""
    return arn(fleet, role_name(fleet, cluster))


def trust(fleet: Fleet, cluster: str) -> Document:
    """Who may take the role: the joining service's account in this cluster, with a token that is meant for AWS."""
    return trusted(fleet, cluster, joining.SUBJECT)


def permissions(fleet: Fleet, cluster: str) -> Document:
    return {"Version": "2012-10-17", "Statement": looks(fleet, cluster)}
