"""What the reader of fleet metrics may do in AWS, as plain data: list a cluster's snapshots, and be told how VPN
connections are, how much of quotas is used, how old images are, and what file systems hold. It reads no object, and
sees no key of a tunnel.

The role is for one service account of one cluster, as teams' roles are (team_roles.py).
"""

from fleet import autoscaler, fleet_metrics
from fleet.buckets import bucket_arn, in_azure
from fleet.model import Fleet

from ..owners import of_cluster
from .team_roles import ROLE, Document, allow, arn, trusted

# AWS has these of no connection in particular.
LOOKS = ["ec2:DescribeTags", "cloudwatch:GetMetricData"]
# Nor these of one quota or image alone.
FILES = ["cloudwatch:GetMetricData"]
POOLS = ["servicequotas:GetServiceQuota", "cloudwatch:GetMetricData", "ec2:DescribeImages"]


def wanted(fleet: Fleet, cluster: str) -> bool:
    home = not in_azure(fleet, fleet.clusters[cluster].region)
    return home or bool(fleet_metrics.linked(fleet, cluster, "aws") or autoscaler.regions(fleet, cluster, "aws"))


def role_name(fleet: Fleet, cluster: str) -> str:
    return of_cluster(fleet, cluster).name("fleet-metrics", ROLE)


def role_arn(fleet: Fleet, cluster: str) -> str:
    """Known before there is a role: the pod names it."""
    return arn(fleet, role_name(fleet, cluster))


def trust(fleet: Fleet, cluster: str) -> Document:
    """Who may take the role: the service account in this cluster, with a token that is meant for AWS."""
    return trusted(fleet, cluster, fleet_metrics.SUBJECT)


def permissions(fleet: Fleet, cluster: str) -> Document:
    looks = (
        ("Links", LOOKS, fleet_metrics.linked(fleet, cluster, "aws")),
        ("Pools", POOLS, autoscaler.regions(fleet, cluster, "aws")),
        ("Files", FILES, fleet_metrics.filed(fleet, cluster, "aws")),
    )
    channels = fleet_metrics.channel_arns(fleet, cluster)
    statements = [
        *(
            allow(
                f"List{one.where.title()}",
                ["s3:ListBucket"],
                [bucket_arn(fleet, one.region)],
                StringLike={"s3:prefix": f"{one.prefix}*"},
            )
            for one in fleet_metrics.folders(fleet, cluster)
            if not in_azure(fleet, one.region)
        ),
        *(
            allow(sid, actions, ["*"], StringEquals={"aws:RequestedRegion": regions})
            for sid, actions, regions in looks
            if regions
        ),
        *([allow("Channels", ["ssm:GetParameters"], channels)] if channels else []),
    ]
    return {"Version": "2012-10-17", "Statement": statements}
