"""What the autoscaler's cloud side may do in AWS, as plain data: look at scaling groups, and size its own.

The role is for one service account of one cluster, as teams' roles are (team_roles.py). It can neither make groups nor
change their bounds, templates and tags, so that the fleet file's `max` holds whatever it asks for.
"""

from typing import Any

from fleet import autoscaler
from fleet.model import Fleet

from ..owners import of_cluster
from .team_roles import ROLE, arn, trusted

Document = dict[str, Any]
# Both are about no group in particular, as AWS has it ("Actions, resources, and condition keys for Amazon EC2 Auto
# Scaling").
DESCRIBE_ACTIONS = ["autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribeScalingActivities"]
# The last ends the pause before a machine's end, once its node is put away: components/pools/aws/hooks.py.
ACTS = [
    "autoscaling:SetDesiredCapacity",
    "autoscaling:TerminateInstanceInAutoScalingGroup",
    "autoscaling:CompleteLifecycleAction",
]


def role_name(fleet: Fleet, cluster: str) -> str:
    return of_cluster(fleet, cluster).name("autoscaler", ROLE)


def role_arn(fleet: Fleet, cluster: str) -> str:
    """Known before there is a role: the pod names it."""
    return arn(fleet, role_name(fleet, cluster))


def trust(fleet: Fleet, cluster: str) -> Document:
    """Who may take the role: the autoscaler's service account in this cluster, with a token that is meant for AWS."""
    return trusted(fleet, cluster, autoscaler.SUBJECT)


def permissions(fleet: Fleet, cluster: str) -> Document:
    tags = {f"aws:ResourceTag/{key}": value for key, value in autoscaler.group_tags(fleet, cluster).items()}
    describes = {
        "Sid": "Look",
        "Effect": "Allow",
        "Action": [*DESCRIBE_ACTIONS],
        "Resource": "*",
        "Condition": {"StringEquals": {"aws:RequestedRegion": autoscaler.regions(fleet, cluster, "aws")}},
    }
    acts = {
        "Sid": "Size",
        "Effect": "Allow",
        "Action": [*ACTS],
        "Resource": autoscaler.group_arns(fleet, cluster),
        "Condition": {"StringEquals": tags},
    }
    return {"Version": "2012-10-17", "Statement": [describes, acts]}
